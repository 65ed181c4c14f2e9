import { eventually } from '@kube-semaphore/eventually';
import { harmIn, pod, quotingRefusal, startHostileServer, STEERING, TOKEN } from '@kube-semaphore/testkit';
import { describe, expect, onTestFinished } from 'vitest';
import { it } from './support/it.ts';

/** The flags for a remote that is hostile in this way. */
async function hostile(
  how: Omit<Parameters<typeof startHostileServer>[0], 'token'>,
): Promise<{ 'target-kube-config': string }> {
  const server = await startHostileServer({ token: TOKEN, ...how });
  onTestFinished(() => server.stop());
  return { 'target-kube-config': server.kubeconfig };
}

const labels = (value: string) => ({ 'semaphore.uw.systems/name': value });

/** Pods that are skipped, each for another reason, and one valid Pod. */
const pods = [
  pod({
    name: `x${STEERING}${'x'.repeat(500)}`,
    labels: labels(`${STEERING}${'x'.repeat(5_000)}`),
    ips: ['10.4.0.1'],
  }),
  pod({ name: 'a', namespace: `ns${STEERING}`, labels: labels('a'), ips: ['10.4.0.1'] }),
  pod({ name: `b${STEERING}`, labels: labels('b'), ips: [`10.4.0.1${STEERING}`] }),
  pod({ name: TOKEN, labels: labels(`${TOKEN}!`), ips: ['10.4.0.1'] }),
  pod({ name: 'good', labels: labels('good'), ips: ['10.4.0.2'] }),
];

describe('what a hostile remote says', () => {
  it.for(['json', 'pretty'])('does no harm in a log (%s)', async (format, { start }) => {
    const policy = await start(
      { ...(await hostile({ refusal: quotingRefusal })), 'log-format': format, 'log-level': 'debug' },
      { ready: false },
    );
    await eventually(() => policy.stderr().split('watch failed').length > 2, true);
    expect(policy.stderr()).toContain('you sent Authorization');
    expect(harmIn(policy.stderr())).toEqual([]);
  });

  it('does no harm in /status', async ({ start }) => {
    const policy = await start(await hostile({ refusal: quotingRefusal }), { ready: false });
    await policy.logged('watch failed');
    const { body } = await policy.get('/status');
    expect(body).toContain('you sent Authorization');
    expect(harmIn(body)).toEqual([]);
  });

  it('does no harm in the error of a subcommand', async ({ startWith }) => {
    const { 'target-kube-config': kubeconfig } = await hostile({ refusal: quotingRefusal });
    const cleanup = await startWith(
      ['cleanup', '-cluster=c9', '-yes', '-calico-api=crd.projectcalico.org/v1', `-local-kube-config=${kubeconfig}`],
      { ready: false },
    );
    expect(await cleanup.exited).toEqual({ code: 1, signal: null });
    expect(cleanup.stderr()).toContain('you sent Authorization');
    expect(harmIn(cleanup.stderr())).toEqual([]);
  });
});

describe('what a hostile remote has', () => {
  it.for(['json', 'pretty'])('does no harm in a log (%s)', async (format, { start }) => {
    const policy = await start(
      { ...(await hostile({ objects: pods })), 'log-format': format, 'log-level': 'debug' },
      { ready: false },
    );
    for (const reason of ['bad-label', 'bad-namespace', 'bad-address'])
      await eventually(() => policy.stderr().includes(reason), true);
    expect(harmIn(policy.stderr())).toEqual([]);
  });

  it.for(['text', 'json'])('does no harm in a plan (%s)', async (output, { plan }) => {
    const { code, stdout, stderr } = await plan({ o: output, ...(await hostile({ objects: pods })) });
    expect(code).toBe(0);
    expect(stdout).toMatch(/is not a valid label value/);
    expect(harmIn(stdout + stderr)).toEqual([]);
    const skips = stdout.split('\n').filter((line) => /^(skip!| +"subject":)/.test(line));
    expect(skips).toHaveLength(4);
  });

  it('fills no disk: the log has 100 of 10,000 bad Pods, and the metric counts all', async ({ start }) => {
    const objects = Array.from({ length: 10_000 }, (_, i) =>
      pod({ name: `bad-${i}`, labels: labels('app'), ips: ['no address'] }),
    );
    const policy = await start(await hostile({ objects }));
    const gauge = { remote: 'c2', kind: 'problem', reason: 'bad-address' };
    await eventually(() => policy.metric('semaphore_policy_skipped_objects', gauge), 10_000);
    expect(policy.log().filter(({ msg }) => msg === 'skipped')).toHaveLength(100);
  });
});
