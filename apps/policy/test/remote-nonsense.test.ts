import { describe, expect } from 'vitest';
import type { Answer } from './support/front.ts';
import { itBehindFronts as it } from './support/it.ts';
import { hasFailed, isUp } from './support/remote-state.ts';

const kept = { name: 'a', app: 'app', ips: ['10.4.0.1'] };
const both = { 'c2-default-app': ['10.4.0.1/32', '10.4.0.2/32'] };

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
