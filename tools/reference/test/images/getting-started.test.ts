import { eventually } from '@kube-semaphore/eventually';
import { expect } from 'vitest';
import { it } from '../support/it.ts';
import { blocksOf, commandsIn, commandsInPods } from '../support/pages.ts';

const page = 'getting-started.md';

/** Two clusters, ten Pods, and a dozen waiting calls of kubectl. */
const testTimeout = { timeout: 180_000 };

/** The page's command that waits for all Pods of the apps. */
const rolledOut = blocksOf(page).find(({ text }) => text.includes('rollout status daemonset/'))!.text;

type Type = (commands: string) => Promise<{ readonly stdout: string }>;

/** The token of policy in c1 for c2. */
async function tokenInUse(type: Type): Promise<string> {
  const { stdout } = await type(
    "kubectl --context c1 -n kube-system get secret semaphore-policy-c2 -o jsonpath='{.data.token}'",
  );
  return Buffer.from(stdout, 'base64').toString();
}

it('leads from two clusters to a mirrored Service with a policy on it', testTimeout, async ({ type, clusters }) => {
  const startMs = performance.now();
  const [c1, c2] = [clusters.c1.internalUrl, clusters.c2.internalUrl];
  const before = commandsIn(page, ['The manifests', 'The tokens'])
    .replace('https://c1-control-plane:6443', c1)
    .replace('https://c2-control-plane:6443', c2);
  expect(before).toContain(`c1_api=${c1}\nc2_api=${c2}\n`);
  await type(before);

  const status = async () => (await type(commandsInPods(page, 'The tokens'))).stdout;
  const isUp = (text: string): boolean => /^up +c2-n1 .* 10\.4\.0\.0\/24$/m.test(text);
  await eventually(status, isUp, { timeoutMs: 60_000, intervalMs: 500 });

  const { stdout } = await type(commandsIn(page, ['A Service of the other cluster', 'A policy on it'], ['pods']));
  expect(stdout).toMatch(/service\/c2-shop-73736d-web condition met/);
  expect(stdout).toMatch(/nets:\n +- 10\.2\.0\.\d+\/32\n/);
  expect(await clusters.c1.admin.list('/apis/projectcalico.org/v3/ippools')).toMatchObject([
    { spec: { cidr: '10.4.0.0/16', disabled: true } },
  ]);
  expect(await clusters.c2.admin.list('/apis/projectcalico.org/v3/namespaces/shop/networkpolicies')).toHaveLength(1);
  console.log(`typed in ${Math.round((performance.now() - startMs) / 1_000)} s`);

  const companion = await type(commandsIn(page, ['A NetworkPolicy that names the other cluster']));
  expect(companion.stdout).toMatch(/cidr: 10\.2\.0\.\d+\/32\n/);
  expect(companion.stdout).toMatch(/name: web-c1-ingress-/);

  await type(commandsIn(page, ['Clean up']));
});

it('works with the token commands of deploy/README.md, too', testTimeout, async ({ type, clusters }) => {
  const secrets = '/api/v1/namespaces/kube-system/secrets/semaphore-policy-c2';
  const before = await clusters.c1.admin.get(secrets);
  await clusters.c1.admin.delete(secrets);
  await type(commandsIn('../deploy/README.md', ['Tokens']));
  expect((await clusters.c1.admin.get(secrets))['data']).toEqual(before['data']);
});

it('uses a new token, and the first one is void', testTimeout, async ({ type, clusters }) => {
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

it('restarts the apps, and removes a cluster', testTimeout, async ({ type, clusters }) => {
  await type(commandsIn('operations.md', ['A changed config', 'Disaster recovery']));
  await type(rolledOut);
  await type(commandsIn('operations.md', ['Removing a cluster']));
  expect(
    (await clusters.c2.admin.list('/api/v1/namespaces/kube-system/serviceaccounts')).map(
      ({ metadata }) => metadata.name,
    ),
  ).not.toContain('semaphore-policy-watcher');
});
