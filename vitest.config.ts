import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Where CI wants the counts of each run, in a file that is named after the npm script which runs it. */
const { TEST_REPORTS: reports, npm_lifecycle_event: script } = process.env;

/**
 * In CI, what fails among many processes on a busy machine is tried once more, with fixtures of its own. `test-counts`
 * names what passed only then, which is a fault to be mended all the same. Unit tests have no such excuse, nor has a
 * developer's machine.
 */
const retry = process.env['CI'] === 'true' ? 1 : 0;

/**
 * unit: beside the code. process: apps and contracts on embedded clusters. real: the same on a real kube-apiserver.
 * net: packets through tunnels, between network namespaces; it takes root. images: what `npm run images` built, as
 * containers beside a real kube-apiserver; it takes root, too.
 */
export default defineConfig({
  test: {
    reporters: reports === undefined ? ['default'] : ['default', ['json', { outputFile: join(reports, `${script}.json`) }]],
    projects: [
      { test: { name: 'unit', include: ['{apps,packages,tools}/*/src/**/*.test.ts'], testTimeout: 30_000 } },
      {
        test: {
          name: 'process',
          retry,
          include: ['{apps,packages,tools}/*/test/**/*.test.ts'],
          exclude: ['**/test/real/**', '**/test/net/**', '**/test/images/**'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'embedded' },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // They wait for other processes more than they compute: two workers a core on a small machine.
          maxWorkers: 4,
        },
      },
      {
        test: {
          name: 'real',
          retry,
          include: ['{apps,packages,tools}/*/test/**/*.test.ts'],
          exclude: ['**/test/net/**', '**/test/images/**'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'real' },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 4,
        },
      },
      {
        test: {
          name: 'net',
          retry,
          include: ['{apps,packages,tools}/*/test/net/**/*.test.ts'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'embedded' },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // A lost packet is a failure here, and a starved ping loses none but finds out late.
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: 'images',
          retry,
          include: ['{apps,packages,tools}/*/test/images/**/*.test.ts'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'real' },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
