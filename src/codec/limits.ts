/** Containers open at once in one message, the top-level object included; one more closes 4400. */
export const MAX_DEPTH = 8;

/** Values in one message: each container and each scalar counts one, keys count none; one more closes 4400. */
export const MAX_NODES = 4096;

/** Bytes in a key; the whole grammar is `[a-z][a-z0-9_]{0,31}`, and any other key closes 4400. */
export const MAX_KEY_BYTES = 32;
