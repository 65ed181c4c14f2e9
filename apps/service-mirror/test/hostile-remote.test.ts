import { eventually } from '@kube-semaphore/eventually';
import {
  endpointSlice,
  harmIn,
  quotingRefusal,
  service,
  startHostileServer,
  STEERING,
  TOKEN,
} from '@kube-semaphore/testkit';
import { describe, expect, onTestFinished } from 'vitest';
import { it } from './support/it.ts';
import { argvOf, usualFlags } from './support/mirror-process.ts';

/** The flags for a remote that is hostile in this way. */
async function hostile(
  how: Omit<Parameters<typeof startHostileServer>[0], 'token'>,
): Promise<{ 'target-kube-config': string }> {
  const server = await startHostileServer({ token: TOKEN, ...how });
  onTestFinished(() => server.stop());
  return { 'target-kube-config': server.kubeconfig };
}

const labels = { mirror: 'true' };

/** Services and slices that are skipped, each for a different reason, and one that isn't. */
const objects = [
  service({ name: `x${STEERING}${'x'.repeat(500)}`, labels }),
  service({ name: 'a', namespace: `ns${STEERING}`, labels }),
  service({ name: TOKEN, labels }),
  service({ name: 'web', labels }),
  endpointSlice({ name: `b${STEERING}`, service: 'web', labels, endpoints: [`10.4.0.1${STEERING}`] }),
  endpointSlice({ name: 'c', service: `web${STEERING}`, labels }),
  endpointSlice({ name: 'd', service: 'web', labels, endpoints: [`10.4.0.1${STEERING}`] }),
];

describe('what a hostile remote says', () => {
  it.for(['json', 'pretty'])('does no harm in a log (%s)', async (format, { start }) => {
    const mirror = await start(
      { ...(await hostile({ refusal: quotingRefusal })), 'log-format': format, 'log-level': 'debug' },
      { ready: false },
    );
    await eventually(() => mirror.stderr().split('watch failed').length > 2, true);
    expect(mirror.stderr()).toContain('you sent Authorization');
    expect(harmIn(mirror.stderr())).toEqual([]);
  });

  it('does no harm in /status', async ({ start }) => {
    const mirror = await start(await hostile({ refusal: quotingRefusal }), { ready: false });
    await mirror.logged('watch failed');
    const { body } = await mirror.get('/status');
    expect(body).toContain('you sent Authorization');
    expect(harmIn(body)).toEqual([]);
  });
});

describe('what a hostile remote has', () => {
  it.for(['json', 'pretty'])('does no harm in a log (%s)', async (format, { start }) => {
    const mirror = await start(
      { ...(await hostile({ objects })), 'log-format': format, 'log-level': 'debug' },
      { ready: false },
    );
    for (const reason of ['bad-name', 'bad-address']) await eventually(() => mirror.stderr().includes(reason), true);
    expect(harmIn(mirror.stderr())).toEqual([]);
  });

  it.for(['text', 'json'])('does no harm in a plan (%s)', async (output, { accounts, startWith }) => {
    const flags = { ...usualFlags(accounts), ...(await hostile({ objects })), 'listen-address': undefined };
    const plan = await startWith(['plan', `-o=${output}`, ...argvOf(flags)], { ready: false });
    expect(await plan.exited).toEqual({ code: 0, signal: null });
    expect(plan.stdout()).toContain('is not a valid Service name');
    expect(harmIn(plan.stdout() + plan.stderr())).toEqual([]);
    const skips = plan
      .stdout()
      .split('\n')
      .filter((line) => /^(skip!| +"subject":)/.test(line));
    expect(skips).toHaveLength(6);
  });
});
