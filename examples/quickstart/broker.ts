import { createBroker } from "a2achan";

const broker = await createBroker({ port: Number(process.env["PORT"] ?? 7411) });
const grant = { issue: "2162", lane: "src/**" };
const worker = await broker.addToken({ role: "worker", subject: "coder", ...grant });
const lead = await broker.addToken({ role: "orchestrator", subject: "lead", worker: "coder", ...grant });

console.log("The broker listens, and its log lasts as long as it runs. In two other terminals:\n");
console.log(`A2ACHAN_URL=${broker.url} A2ACHAN_TOKEN=${worker.token} npx tsx examples/quickstart/worker.ts`);
console.log(`A2ACHAN_URL=${broker.url} A2ACHAN_TOKEN=${lead.token} npx tsx examples/quickstart/orchestrator.ts`);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void broker.stop());
