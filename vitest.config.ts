import { defineConfig } from 'vitest/config';

/** unit: beside the code. process: apps and contracts on embedded clusters. real: the same on a real kube-apiserver. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['{apps,packages,tools}/*/src/**/*.test.ts'] } },
      {
        test: {
          name: 'process',
          include: ['{apps,packages,tools}/*/test/**/*.test.ts'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'embedded' },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'real',
          include: ['{apps,packages,tools}/*/test/**/*.test.ts'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'real' },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
