import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundle } from '@kube-semaphore/images-tool/bundle';
import { type BenchOptions, parseOptions, usage } from './options.ts';
import { benchPolicy } from './policy/policy.ts';
import { renderJson, renderMarkdown, renderText, type Report } from './report/report.ts';
import { benchServiceMirror } from './service-mirror/service-mirror.ts';
import { UsageError } from './shared-options.ts';
import { RequirementsError } from './wireguard/requirements.ts';
import { benchWireGuard } from './wireguard/wireguard.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

// The clusters and the programs end with this process, also if it is killed.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') process.stdout.write(usage);
  else await bench(options);
} catch (error) {
  if (error instanceof UsageError) process.stderr.write(`${error.message}\n\n${usage}`);
  else if (error instanceof RequirementsError) process.stderr.write(`${error.message}\n`);
  else throw error;
  process.exitCode = 2;
}

async function bench(options: BenchOptions): Promise<void> {
  const report = await measure(options);
  console.log(renderText(report));
  if (options.json !== undefined) await writeFile(options.json, renderJson(report));
  if (options.markdown !== undefined) await writeFile(options.markdown, renderMarkdown(report));
  if (report.columns.some(({ rounds }) => rounds.some(({ failure }) => failure !== undefined))) process.exitCode = 1;
}

async function measure(options: BenchOptions): Promise<Report> {
  const launcher = await bundle(options.app, { root });
  const say = (what: string) => console.error(`- ${what}`);
  switch (options.app) {
    case 'policy':
      return benchPolicy(options, { launcher, say });
    case 'service-mirror':
      return benchServiceMirror(options, { launcher, say });
    case 'wireguard':
      return benchWireGuard(options, { launcher, say });
  }
}
