import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleForThisProcess } from '@kube-semaphore/images-tool/bundle';
import { CommanderError } from 'commander';
import { benchChurn } from './churn/churn.ts';
import { renderVerdict } from './churn/verdict.ts';
import { benchGrowth } from './growth/growth.ts';
import { chartsOf, type Measured, renderGrowth, withResult } from './growth/results.ts';
import { benchManyRemotes } from './many-remotes/many-remotes.ts';
import { commandLine, type SharedOptions } from './options.ts';
import type { Setting } from './phases/run.ts';
import { benchPolicy } from './policy/policy.ts';
import { renderJson, renderMarkdown, type Report } from './report/report.ts';
import { benchServiceMirror } from './service-mirror/service-mirror.ts';
import { benchWireGuard } from './wireguard/wireguard.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

// The clusters and the programs end with this process, also if it is killed.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const program = commandLine({
  policy: async (options) => tell(await benchPolicy(options, await setting('policy')), options),
  mirror: async (options) => tell(await benchServiceMirror(options, await setting('service-mirror')), options),
  wireGuard: async (options) => tell(await benchWireGuard(options, await setting('wireguard')), options),
  manyRemotes: async (options) => {
    const [mirror, policy] = [await setting('service-mirror'), await setting('policy')];
    const launchers = { 'service-mirror': mirror.launcher, policy: policy.launcher };
    await tell(await benchManyRemotes(options, launchers, mirror.say), options);
  },
  growth: async (options) => {
    const [mirror, policy, tunnels] = [
      await setting('service-mirror'),
      await setting('policy'),
      await setting('wireguard'),
    ];
    const launchers = {
      'service-mirror': mirror.launcher,
      policy: policy.launcher,
      wireguard: tunnels.launcher,
    };
    const { results: file, pictures } = options;
    for (const folder of [dirname(file), pictures]) await mkdir(folder, { recursive: true });
    let results = existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as readonly Measured[]) : [];
    const found = async (measured: Measured) => {
      results = withResult(results, measured);
      await writeFile(file, `${JSON.stringify(results, undefined, 2)}\n`);
    };
    await benchGrowth(options, launchers, { say: mirror.say, found });
    console.log(renderGrowth(results));
    for (const [name, svg] of chartsOf(results)) await writeFile(join(pictures, name), svg);
  },
  churn: async ({ app, ...options }) => {
    for (const each of app) {
      const { facts, judged } = await benchChurn(each, options, await setting(each));
      console.log(`${facts.map((fact) => `- ${fact}\n`).join('')}\n${renderVerdict(judged)}\n`);
      if (judged.some(({ grows }) => grows)) process.exitCode = 1;
    }
  },
});
try {
  await program.parseAsync();
} catch (error) {
  // commander has written its message.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}

async function setting(app: Parameters<typeof bundleForThisProcess>[0]): Promise<Setting> {
  return { launcher: await bundleForThisProcess(app, { root }), say: (what) => console.error(`- ${what}`) };
}

async function tell(measured: Report, { embedded, encoding, json }: Partial<SharedOptions>): Promise<void> {
  // Targets are for the real server and protobuf, the default.
  const report = embedded === true || encoding === 'json' ? { ...measured, targets: {} } : measured;
  console.log(renderMarkdown(report));
  if (json !== undefined) await writeFile(json, renderJson(report));
  if (report.columns.some(({ rounds }) => rounds.some(({ failure }) => failure !== undefined))) process.exitCode = 1;
}
