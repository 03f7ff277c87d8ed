/** What msgpackr's build without `eval` gives, as far as it is used here: the package has no types for it. */
declare module "msgpackr/index-no-eval" {
  export class Packr {
    constructor(options: {
      useRecords: false;
      int64AsType: "number";
      /** Fields of these values are left out. */
      skipValues: readonly unknown[];
    });
    pack(value: unknown): Uint8Array;
    unpack(data: Uint8Array): unknown;
  }
}
