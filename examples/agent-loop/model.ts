/** What a model answers: a plan for its next step, no to a correction, or that the task is done. */
export type Answer = { plan: string } | { decline: string } | { done: true };

/** Answers to what it was told so far. */
export type Model = (context: readonly string[]) => Promise<Answer>;

/** A model that gives the answers of a script, whatever it reads; put yours in its place. */
export function scriptedModel(script: readonly Answer[]): Model {
  const answers = script.values();
  return () => {
    const { value } = answers.next();
    return value === undefined ? Promise.reject(new Error("the script is at its end")) : Promise.resolve(value);
  };
}
