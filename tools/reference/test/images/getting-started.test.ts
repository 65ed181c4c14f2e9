import { eventually } from '@kube-semaphore/eventually';
import { expect } from 'vitest';
import { it } from '../support/it.ts';
import { blocksOf, commandsIn } from '../support/pages.ts';

const page = 'getting-started.md';

/** The command that waits for all Pods of the apps. */
const rolledOut = blocksOf('by-hand.md').find(({ text }) => text.includes('rollout status daemonset/'))!.text;

type Type = (commands: string) => Promise<{ readonly stdout: string }>;

/** The token of policy in c1 for c2. */
async function tokenInUse(type: Type): Promise<string> {
  const { stdout } = await type(
    "kubectl --context c1 -n kube-system get secret semaphore-policy-c2 -o jsonpath='{.data.token}'",
  );
  return Buffer.from(stdout, 'base64').toString();
}

it('leads from two clusters to a mirrored Service with a policy on it', async ({ type }) => {
  const startMs = performance.now();
  // The kernel may have no WireGuard.
  const link = commandsIn(page, ['The link']).replace('--apply', '--apply --userspace');
  expect(link).toContain('--userspace');
  const { stdout } = await type(link);
  expect(stdout).toMatch(/^✓ handshakes$/m);
  for (const by of ['pod IPv4', 'service', 'name']) expect(stdout).toMatch(new RegExp(`^c1 +c2 +${by} +✓ +✓ `, 'm'));

  const called = await type(commandsIn(page, ['A Service of the other cluster', 'A policy on it']));
  expect(called.stdout).toMatch(/cidr: 10\.2\.0\.\d+\/32\n/);
  console.log(`typed in ${Math.round((performance.now() - startMs) / 1_000)} s`);
});

it('uses a new token, and the first one is void', async ({ type, clusters }) => {
  const [next, last] = blocksOf('operations.md').filter(
    ({ heading, language }) => heading === 'Rotating tokens' && language === 'sh',
  );
  const first = await tokenInUse(type);
  await type(next!.text);
  const second = await tokenInUse(type);
  const answerTo = async (token: string) =>
    (await clusters.c2.clientFor(token).request('GET', '/api/v1/pods?limit=1')).status;
  expect([await answerTo(first), await answerTo(second), second === first]).toEqual([200, 200, false]);
  await type(last!.text);
  await eventually(() => answerTo(first), 401);
  expect(await answerTo(second)).toBe(200);
});

it('restarts the apps, and removes a cluster', async ({ type, clusters }) => {
  await type(commandsIn('operations.md', ['A changed config', 'Disaster recovery']));
  await type(rolledOut);
  await type(commandsIn('operations.md', ['Removing a cluster']));
  expect(
    (await clusters.c2.admin.list('/api/v1/namespaces/kube-system/serviceaccounts')).map(
      ({ metadata }) => metadata.name,
    ),
  ).not.toContain('semaphore-policy-watcher');
});
