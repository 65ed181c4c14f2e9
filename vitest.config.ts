import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { readProjects, readRunner } from './tools/boundaries/src/workspace.ts';
import { reportersInto } from './tools/test-runs/src/report.ts';

const root = import.meta.dirname;

/** CI's folder for reports. Each report is named after the npm script that runs the tests. */
const { TEST_REPORTS: reports, npm_lifecycle_event: script } = process.env;

/** A failure's message is what the end of CI's log has of it: by default, it shows 40 characters of a value. */
const chaiConfig = { truncateThreshold: 2_000 };

/** The timeout of each test: only for one that hangs, on a busy machine, too. Most end by the timeout of what they wait for. */
const within = (minutes: number) => ({ testTimeout: minutes * 60_000, hookTimeout: minutes * 60_000 });

/**
 * A worker imports each module once: that saves a quarter of the CPU. A test puts back what it changes for all, and gives a
 * fixture of another module another value by `extend`, never by `override`, which changes that module's own.
 */
const sharedModules = { isolate: false };

/** Fails a test that reads what isn't an input of its project's `test` target. */
const setupFiles = [join(root, 'tools/boundaries/src/guard-reads.ts')];

/** Makes what the programs of the tests are started from. */
const globalSetup = join(root, 'tools/test-runs/src/bundles.ts');

/**
 * They wait long, for timeouts and for other programs. Or they collect garbage after each input, which takes many times as
 * long in a process that has run other files.
 */
const startsFirst = ({ moduleId }: TestSpecification): boolean =>
  /\/test\/faults\/|\/demo\/test\/|\/(fuzz|linear)\.test\./.test(moduleId);

/**
 * Without known durations, as in CI, vitest starts with the largest files. Those that wait most come before them, so that
 * others compute meanwhile, and no core is idle in the end.
 */
class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => Number(startsFirst(b)) - Number(startsFirst(a)));
  }
}

/**
 * The kind of server that a file runs on. Most need only an embedded one, which takes less time. Those in a folder `real` need
 * a real API server, or other programs of `npm run binaries`; those in `both` run on each kind. Their first line says why, and
 * `npm run boundaries` checks that it does. The contract holds the embedded server to the real one.
 */
const onBoth = [
  '{e2e,{apps,packages,tools}/*}/test/**/both/**/*.test.ts',
  'packages/embedded-apiserver/test/contract/*.test.ts',
];

/** Of tests of packets between network namespaces. */
const net = {
  globalSetup,
  chaiConfig,
  env: { KUBE_SEMAPHORE_CLUSTERS: 'embedded' },
  ...sharedModules,
  ...within(15),
  // Tests count lost packets, so nothing else may delay a ping.
  maxWorkers: 1,
};

/**
 * unit: beside the code. process: apps and contracts on embedded clusters. real: on a real kube-apiserver.
 * net: packets through tunnels between network namespaces; needs root. images: the images of `npm run images` as containers
 * beside a real kube-apiserver, and as Pods on real nodes; needs root. nightly: too long for CI, on real nodes.
 * nightly-net: the same, as net.
 */
export default defineConfig({
  test: {
    provide: { workspace: { projects: readProjects(root), runner: readRunner(root) } },
    sequence: { sequencer: Sequencer },
    reporters: ['default', ...(reports === undefined || script === undefined ? [] : reportersInto(reports, script))],
    projects: [
      {
        test: {
          name: 'unit',
          setupFiles,
          include: ['{e2e,{apps,packages,tools}/*}/src/**/*.test.ts'],
          ...sharedModules,
          ...within(15),
          // After the processes, if both are asked for: vitest runs projects together only with the same number of workers.
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'process',
          globalSetup,
          setupFiles,
          chaiConfig,
          include: ['{e2e,{apps,packages,tools}/*}/test/**/*.test.ts'],
          exclude: ['**/test/**/{real,net,images,nightly}/**'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'embedded' },
          ...sharedModules,
          ...within(15),
          // These tests wait for other processes more than they compute.
          maxWorkers: 7,
        },
      },
      {
        test: {
          name: 'real',
          globalSetup,
          chaiConfig,
          include: ['{e2e,{apps,packages,tools}/*}/test/**/real/**/*.test.ts', ...onBoth],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'real' },
          ...sharedModules,
          ...within(15),
          maxWorkers: 5,
        },
      },
      { test: { ...net, name: 'net', include: ['{e2e,{apps,packages,tools}/*}/test/net/**/*.test.ts'] } },
      { test: { ...net, name: 'nightly-net', include: ['apps/*/test/nightly/**/*.test.ts'] } },
      {
        test: {
          name: 'images',
          chaiConfig,
          include: ['{e2e,{apps,packages,tools}/*}/test/images/**/*.test.ts'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'real' },
          ...within(15),
          // Tests count lost calls, so no other cluster may delay one.
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: 'nightly',
          include: ['{e2e,tools/*}/test/nightly/**/*.test.ts'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'real' },
          ...within(30),
          maxWorkers: 1,
        },
      },
    ],
  },
});
