import { fileURLToPath } from 'node:url';

/** The programs of Pods that answer and call, each a file for Node.js. */
export const callPrograms = {
  web: fileURLToPath(new URL('./web.ts', import.meta.url)),
  caller: fileURLToPath(new URL('./caller.ts', import.meta.url)),
};
