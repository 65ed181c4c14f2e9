// Both: people start the demo on servers of either kind.
import { docBlocks } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { DemoProcess } from '../demo-process.ts';

/** Without line breaks, durations and numbers of writes: these differ from run to run. */
const withoutMeasures = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/[\d.]+ m?s\b/g, '… s')
    .replace(/\d+ writes?\b/g, '… writes');

it('runs to its end, in plain text, and cleans up', async () => {
  const demo = await DemoProcess.start();
  expect(await demo.ended).toMatchObject({ code: 0, signal: null });
  expect(await demo.remains()).toEqual([]);
  expect(demo.output).not.toContain('\u001B');

  const results = demo.output.split('\n').filter((line) => line.includes('✓'));
  expect(results.map((line) => line.replace(/^ +✓ +[\d.]+ m?s {2}/, ''))).toEqual([
    'both clusters serve their APIs',
    expect.stringMatching(/^both semaphore-policy processes are ready: /),
    expect.stringMatching(/^c1 has a set c2-shop-checkout, with [246] addresses$/),
    'all 3 pods are in it',
    expect.stringMatching(/^all 20 pods are in the set: 40 addresses, in \d+ writes? /),
    expect.stringMatching(/^all 20 new pods are in the set, and no old one: never fewer than \d+/),
    'only the last pod is in the set: 10.2.0.21/32 and fd00:10:2::15/128',
    'c2 has a set c1-payments-ledger',
    expect.stringMatching(/^the set is restored: 203\.0\.113\.66\/32 was in it for /),
    'c1 reports that it does not reach c2',
    'the set did not change, while 2 attempts to reach c2 failed',
    'the set is up to date: it has the 3 new pods, and not the old one',
    expect.stringMatching(/^the other replica leads: it is the (first|second) one\. /),
    'the pod that started in between is in the set',
    'the new leader has written the next change',
    'c1 has no set c2-shop-checkout; c2 still has c1-payments-ledger',
    'a companion of the NetworkPolicy has the addresses of all 3 pods',
    'the companion is deleted, too',
    'semaphore-service-mirror is ready',
    'c1 has a Service c2-shop-73736d-checkout',
    'all 3 pods of c2 are ready behind it',
    expect.stringMatching(/^only the 3 new pods are ready behind the mirror: never fewer than \d+, /),
    'c1 has neither the mirror nor its EndpointSlices',
    'semaphore-service-mirror is ready again',
    'c1 has a Service gl-default-73736d-shop',
    'the pods of both clusters are ready behind it',
    'only the pods of c1 are ready behind it',
    expect.stringMatching(/^the pods of both clusters are ready behind it again: never fewer than 2 pods, /),
    'c1 has no EndpointSlices of c2: the Service stays, with 2 pods of c1',
    'c1 has neither the global Service nor its EndpointSlices',
  ]);
  const extract = docBlocks('../README.md', 'Try it', 'text').join('').trim();
  expect(withoutMeasures(demo.output)).toContain(withoutMeasures(extract));
  expect(demo.output.replace(/\s+/g, ' ')).toMatch(
    /For this, the following is missing here: (root; )?wg; ip; unshare; nsenter; mount; bash; ping; tcpdump/,
  );
  const metric = 'semaphore_policy_remote_up{remote="c2"}';
  expect(demo.output.split('\n').filter((line) => line.includes(metric))).toEqual([
    `     ${metric} 0`,
    `     ${metric} 1`,
  ]);
});
