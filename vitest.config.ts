import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { measureSlowdown, SLOWDOWN } from './packages/eventually/src/slowdown.ts';
import { readProjects, readRunner } from './tools/boundaries/src/workspace.ts';
import { reportersInto } from './tools/test-runs/src/report.ts';

const root = import.meta.dirname;

/** CI's folder for reports. Each report is named after the npm script that runs the tests. */
const { TEST_REPORTS: reports, npm_lifecycle_event: script } = process.env;

/** A failure's message is what the end of CI's log has of it: by default, it shows 40 characters of a value. */
const chaiConfig = { truncateThreshold: 2_000 };

/** The timeout of each test: only for one that hangs, on a busy machine, too. Most end by the timeout of what they wait for. */
const within = (minutes: number) => ({ testTimeout: minutes * 60_000, hookTimeout: minutes * 60_000 });

await measureOnce();

/** Timeouts of what tests wait for are multiplied by the slowdown. Workers inherit it. Other tools load this file, too. */
async function measureOnce(): Promise<void> {
  if (process.env['VITEST'] !== 'true') return;
  process.env[SLOWDOWN] ??= String(await measureSlowdown());
  console.log(`timeouts × ${process.env[SLOWDOWN]}: 1 is an idle machine with two cores`);
}

/** Fails a test that reads what isn't an input of its project's `test` target. */
const setupFiles = [join(root, 'tools/boundaries/src/guard-reads.ts')];

/** Makes what the programs of the tests are started from. */
const globalSetup = join(root, 'tools/test-runs/src/bundles.ts');

/**
 * They wait long, for timeouts and for other programs. Or they collect garbage after each input, which takes many times as
 * long in a process that has run other files.
 */
const startsFirst = ({ moduleId }: TestSpecification): boolean =>
  /\/test\/faults\/|\/demo\/test\/|\/fuzz\.test\./.test(moduleId);

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
 * Real API servers can't change the result of these files. They start no cluster of the run's kind; or a hostile server or a
 * fault proxy answers or cuts in the server's place; or they are about flags, signals and output.
 * `random-schedule.test.ts` has the same faults between a program and real servers. How servers refuse a token is in the
 * contract suite. What subcommands send, others send, too.
 */
const sameOnRealServers = [
  'apps/*/test/docs.test.ts',
  'apps/cli/test/*.test.ts',
  'e2e/test/*.test.ts',
  'apps/*/test/hostile-remote.test.ts',
  'apps/policy/test/{check,explain,label-namespaces,remote-budget,remote-nonsense,shutdown,spellings,usage}.test.ts',
  'apps/service-mirror/test/{remote-over-budget,stale,subcommands}.test.ts',
  'apps/wireguard/test/{plan,scrapes,secrets,usage}.test.ts',
  'apps/service-mirror/test/mcs/{budgets,cleanup,plan,random-changes,unknown}.test.ts',
  'apps/*/test/faults/{both-sides,empty-lists}.test.ts',
  'packages/{cluster-auth,runtime,wireguard-tools}/test/*.test.ts',
  'packages/embedded-apiserver/test/*.test.ts',
  'packages/informers/test/{aborted-watch,faults,hostile-server,watch-list-fallback}.test.ts',
  'packages/testkit/test/*.test.ts',
  'tools/demo/test/interrupted.test.ts',
  'tools/{binaries,images,manifests,test-runs}/test/*.test.ts',
];

/**
 * unit: beside the code. process: apps and contracts on embedded clusters. real: the same on a real kube-apiserver.
 * net: packets through tunnels between network namespaces; needs root. images: the images of `npm run images` as containers
 * beside a real kube-apiserver, and as Pods on real nodes; needs root. nightly: too long for CI, on real nodes.
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
          // A worker imports each module once: that is a third of the CPU. A test puts back what it changes for all.
          isolate: false,
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
          exclude: ['**/test/{real,net,images,nightly}/**'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'embedded' },
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
          include: ['{e2e,{apps,packages,tools}/*}/test/**/*.test.ts'],
          exclude: ['**/test/{net,images,nightly}/**', ...sameOnRealServers],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'real' },
          ...within(15),
          maxWorkers: 5,
        },
      },
      {
        test: {
          name: 'net',
          globalSetup,
          chaiConfig,
          include: ['{e2e,{apps,packages,tools}/*}/test/net/**/*.test.ts'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'embedded' },
          ...within(15),
          // Tests count lost packets, so nothing else may delay a ping.
          maxWorkers: 1,
        },
      },
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
          include: ['e2e/test/nightly/**/*.test.ts'],
          env: { KUBE_SEMAPHORE_CLUSTERS: 'real' },
          ...within(30),
          maxWorkers: 1,
        },
      },
    ],
  },
});
