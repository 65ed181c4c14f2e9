import { expect, it } from 'vitest';
import { runBench } from './support/bench.ts';

it.each(['policy', 'service-mirror'])('finds that nothing grows in %s while all comes and goes', async (app) => {
  const size = '--rounds 4 --period 4 --rate 20'.split(' ');
  const { stdout } = await runBench(['churn', '--app', app, ...size], { signal: AbortSignal.timeout(300_000) });
  expect(stdout).toMatch(new RegExp(`^- ${app}: \\d+\\.\\d minutes, 4 rounds\\n`));
  for (const figure of ['sockets', 'active resources', 'series of metrics', 'objects known', 'written objects'])
    expect(stdout).toMatch(new RegExp(`^\\| ${figure} +\\|( +\\d+ \\|){4} .* flat \\|$`, 'm'));
});
