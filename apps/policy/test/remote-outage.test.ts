import { describe, expect } from 'vitest';
import { eventually } from './support/eventually.ts';
import type { Answer } from './support/front.ts';
import { itBehindFronts as it } from './support/it.ts';
import type { PolicyProcess } from './support/policy-process.ts';
import { labelsOf } from './support/sets.ts';

const kept = { name: 'a', app: 'app', ips: ['10.4.0.1'] };
const both = { 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] };

/** Waits until a policy has tried in vain so many times to reach the remote, for one reason. */
async function hasFailed(policy: PolicyProcess, reason: string, times = 2): Promise<void> {
  await eventually(async () => {
    const failures = await policy.metric('semaphore_policy_remote_watch_restarts_total', { remote: 'c2', reason });
    return (failures ?? 0) >= times;
  }, true);
}

const isUp = (policy: PolicyProcess) => policy.metric('semaphore_policy_remote_up', { remote: 'c2' });

describe('a remote that goes away', () => {
  it('takes no address with it, nor the health of the process (Go called itself unhealthy)', async ({
    remoteFront,
    pods,
    sets,
    history,
    start,
  }) => {
    await pods.add(kept, { name: 'b', app: 'app', ips: ['10.4.0.2'] });
    const policy = await start({ 'target-kube-config': remoteFront.kubeconfig });
    await sets.become(both);
    expect(await isUp(policy)).toBe(1);

    await remoteFront.down();
    await hasFailed(policy, 'unreachable');
    expect(await isUp(policy)).toBe(0);
    expect([(await policy.get('/readyz')).status, (await policy.get('/healthz')).status]).toEqual([200, 200]);
    expect(policy.log().filter(({ level, cluster }) => level === 'warn' && cluster === 'c2')).toHaveLength(1);

    await pods.remove('b');
    await pods.add({ name: 'c', app: 'app', ips: ['10.4.0.3'] });
    await remoteFront.up();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.3/32'] });
    expect(await isUp(policy)).toBe(1);
    await history.caughtUp();
    expect(history.deletions()).toEqual([]);
    expect(history.lapses('app', ['10.4.0.1/32'])).toEqual([]);
  });

  it('may come back with its history forgotten, and pods gone or done that nobody saw go', async ({
    remoteFront,
    remote,
    pods,
    sets,
    history,
    start,
  }) => {
    await pods.add(
      kept,
      { name: 'b', app: 'app', ips: ['10.4.0.2'] },
      { name: 'c', app: 'gone', ips: ['10.4.0.3'] },
      { name: 'e', app: 'job', ips: ['10.4.0.5'] },
    );
    await start({ 'target-kube-config': remoteFront.kubeconfig });
    await sets.become({ ...both, 'c2-default-gone': ['10.4.0.3/32'], 'c2-default-job': ['10.4.0.5/32'] });
    await remoteFront.down();
    await pods.remove('b', 'c');
    await pods.setStatus('e', { phase: 'Succeeded' });
    await pods.add({ name: 'd', app: 'app', ips: ['10.4.0.4'] });
    await remote.restart();
    await remoteFront.up();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32', '10.4.0.4/32'] });
    await history.caughtUp();
    expect(history.lapses('app', ['10.4.0.1/32'])).toEqual([]);
  });

  it('may restart under an open watch', async ({ remote, pods, sets, history, start }) => {
    await pods.add(kept, { name: 'b', app: 'app', ips: ['10.4.0.2'] });
    await start();
    await sets.become(both);
    await remote.restart();
    await pods.remove('b');
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await history.caughtUp();
    expect(history.lapses('app', ['10.4.0.1/32'])).toEqual([]);
  });
});

describe('a remote that falls silent', () => {
  it('is asked again after -watch-idle-timeout', async ({ remoteFront, pods, sets, history, start }) => {
    await pods.add(kept, { name: 'b', app: 'app', ips: ['10.4.0.2'] });
    const policy = await start({ 'target-kube-config': remoteFront.kubeconfig, 'watch-idle-timeout': '1s' });
    await sets.become(both);
    const silent: Answer = (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    remoteFront.answerWith(({ url = '' }) => (url.includes('watch=true') ? silent : undefined));
    await hasFailed(policy, 'idle');
    await pods.remove('b');
    remoteFront.answerWith(() => undefined);
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await history.caughtUp();
    expect(history.lapses('app', ['10.4.0.1/32'])).toEqual([]);
  });
});

describe('a remote that is away from the start', () => {
  it('is waited for, and what is in its sets stays (Go served no /healthz until then)', async ({
    remoteFront,
    pods,
    sets,
    history,
    start,
  }) => {
    await sets.add({ name: 'c2-default-app', labels: labelsOf('app'), nets: both['c2-default-app'] });
    await pods.add(kept);
    await remoteFront.down();
    const policy = await start({ 'target-kube-config': remoteFront.kubeconfig }, { ready: false });
    await eventually(() => policy.get('/readyz'), { status: 503, body: 'waiting for the first list of c2\n' });
    await hasFailed(policy, 'unreachable');
    expect((await policy.get('/healthz')).status).toBe(200);
    expect(await sets.nets()).toEqual(both);

    await remoteFront.up();
    await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
    await policy.ready();
    await history.caughtUp();
    expect(history.lapses('app', ['10.4.0.1/32'])).toEqual([]);
  });
});

describe('a remote that answers', () => {
  const answer =
    (status: number, body: string): Answer =>
    (_, response) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(body);

  /** Each of the answers in turn. */
  const inTurn = (answers: readonly Answer[]) => {
    let asked = 0;
    return () => answers[asked++ % answers.length];
  };

  const nonsense = [
    answer(200, '<html>Sign in</html>\n'),
    answer(200, '{"apiVersion":"v1","kind":"SecretList","metadata":{"resourceVersion":"9"},"items":[]}\n'),
    answer(200, '{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"9"},"items":['),
  ];
  const errors = [
    answer(500, 'oops'),
    answer(401, '{"kind":"Status","apiVersion":"v1","code":401,"reason":"Unauthorized"}'),
  ];

  it.for([
    { name: 'nonsense', answers: nonsense, reason: 'garbage', times: 2 },
    { name: 'errors', answers: errors, reason: 'server_error', times: 1 },
  ])(
    'with $name changes nothing, and is forgiven when it is over',
    async ({ answers, reason, times }, { remoteFront, pods, sets, history, start }) => {
      await pods.add(kept, { name: 'b', app: 'app', ips: ['10.4.0.2'] });
      const policy = await start({ 'target-kube-config': remoteFront.kubeconfig });
      await sets.become(both);
      remoteFront.answerWith(inTurn(answers));
      await hasFailed(policy, reason, times);
      expect(await isUp(policy)).toBe(0);
      await pods.remove('b');
      remoteFront.answerWith(() => undefined);
      await sets.become({ 'c2-default-app': ['10.4.0.1/32'] });
      await history.caughtUp();
      expect(history.deletions()).toEqual([]);
      expect(history.lapses('app', ['10.4.0.1/32'])).toEqual([]);
    },
  );
});
