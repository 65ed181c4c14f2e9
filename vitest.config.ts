import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Where CI wants the counts of each run, in a file that is named after the npm script which runs it. */
const { TEST_REPORTS: reports, npm_lifecycle_event: script } = process.env;

/**
 * In CI, what fails among many processes on a busy machine is tried once more, with fixtures of its own. `test-counts`
 * names what passed only then, which is a fault to be mended all the same. Unit tests have no such excuse, nor has a
 * developer's machine.
 */
const retry = process.env['CI'] === 'true' ? 1 : 0;

const waitsMost = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/test/faults/');

/**
 * Where vitest knows no durations, as in CI, it begins with the largest files, and what waits most is small: the tests of
 * faults. Spread evenly among the others, they wait while those compute.
 */
class Spread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waiting = sorted.filter(waitsMost);
    const others = sorted.filter((file) => !waitsMost(file));
    // The last of them isn't the last file of all, as it takes a minute.
    const until = (count: number): number => Math.round((count * others.length) / (waiting.length + 4));
    const spread = waiting.flatMap((file, i) => [file, ...others.slice(until(i), until(i + 1))]);
    return [...spread, ...others.slice(until(waiting.length))];
  }
}

/**
 * unit: beside the code. process: apps and contracts on embedded clusters. real: the same on a real kube-apiserver.
 * net: packets through tunnels, between network namespaces; it takes root. images: what `npm run images` built, as
 * containers beside a real kube-apiserver; it takes root, too.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: Spread },
    reporters:
      reports === undefined ? ['default'] : ['default', ['json', { outputFile: join(reports, `${script}.json`) }]],
    projects: [
      { test: { name: 'unit', include: ['{e2e,{apps,packages,tools}/*}/src/**/*.test.ts'], testTimeout: 30_000 } },
      {
        test: {
          name: 'process',
          retry,
          include: ['{e2e,{apps,packages,tools}/*}/test/**/*.test.ts'],
          exclude: ['**/test/real/**', '**/test/net/**', '**/test/images/**'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'embedded' },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // They wait for other processes more than they compute: three workers a core on a small machine.
          maxWorkers: 6,
        },
      },
      {
        test: {
          name: 'real',
          retry,
          include: ['{e2e,{apps,packages,tools}/*}/test/**/*.test.ts'],
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
          include: ['{e2e,{apps,packages,tools}/*}/test/net/**/*.test.ts'],
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
          include: ['{e2e,{apps,packages,tools}/*}/test/images/**/*.test.ts'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'real' },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
