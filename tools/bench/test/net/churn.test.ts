import { expect, it } from 'vitest';
import { runBench } from '../support/bench.ts';

it('finds that nothing grows in an agent whose Nodes and remotes come and go', async () => {
  const size = '--app wireguard --rounds 4 --period 4 --rate 20'.split(' ');
  const { stdout } = await runBench(['churn', ...size], { signal: AbortSignal.timeout(300_000) });
  expect(stdout).toMatch(/^\| written objects +\|( +100 \|){4} .* flat \|$/m);
});
