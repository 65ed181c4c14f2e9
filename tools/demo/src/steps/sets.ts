import type { Answer } from '@kube-semaphore/embedded-apiserver';
import { contentOf, mainOf, setOf } from '../copies.ts';
import { costOf, observe } from '../observe.ts';
import { table } from '../text/table.ts';
import { memberLabel } from '../workload.ts';
import type { Step } from './start.ts';

const firstPods: Step = async ({ out, c1, checkout, ledger }) => {
  out.step(
    'A workload starts in c2, and c1 learns about it',
    `In c2, 3 pods of the app ${checkout.app} start in the
    namespace ${checkout.namespace}. Their owner has given them the label ${memberLabel}: ${checkout.app}, which makes
    them known to other clusters.`,
  );
  const { rightMs, first, last } = await observe(c1, setOf(checkout), () => checkout.scale(3));
  out.show(table(checkout.pods.map(({ name, ips }) => [name, ips.join(', ')])));
  out.result(`c1 has a set ${checkout.setName}`, first.ms, `, with ${contentOf(first.copy)?.ready.length} addresses`);
  out.result('all 3 pods are in it', rightMs);
  const { metadata, ...set } = mainOf(last.copy);
  const { name, labels = {} } = metadata;
  out.showYaml({ kind: 'GlobalNetworkSet', metadata: { name, labels }, spec: set['spec'] });
  out.say(`The nets are the addresses of the pods. A Calico policy in c1 selects the set by its labels. This one allows
    ${checkout.app} of c2 to call ${ledger.app}, an app of c1:`);
  const terms = Object.entries(labels).filter(([key]) => key.includes('/'));
  const selector = terms.map(([key, value]) => `${key} == '${value}'`).join(' && ');
  const source = { namespaceSelector: 'global()', selector };
  out.showYaml({
    apiVersion: 'projectcalico.org/v3',
    kind: 'NetworkPolicy',
    metadata: { name: 'let-remote-pods-in', namespace: ledger.namespace },
    spec: { selector: `app == '${ledger.app}'`, ingress: [{ action: 'Allow', source }] },
  });
};

const grows: Step = async ({ out, c1, checkout }) => {
  out.step(
    'It grows to 20 pods',
    `Another 17 pods start at nearly the same time. Look at the number of writes:
    semaphore-policy writes the first changes at once, and collects the next ones. A rollout of any size costs at most 5
    writes at once for each set, then 5 a second.`,
  );
  const seen = await observe(c1, setOf(checkout), () => checkout.scale(20));
  const count = contentOf(seen.last.copy)?.ready.length;
  out.result('all 20 pods are in the set', seen.rightMs, `: ${count} addresses, ${costOf(seen, 'creating the pods')}`);
};

const rollsOut: Step = async ({ out, c1, checkout }) => {
  out.step(
    'A rolling update replaces every pod',
    `A new version rolls out, 5 pods at a time: new pods run before old
    ones are deleted. Look at the smallest number of addresses: the set was never empty.`,
  );
  const seen = await observe(c1, setOf(checkout), () => checkout.rollOut());
  const fewest = Math.min(...seen.versions.map(({ copy }) => contentOf(copy)?.ready.length ?? 0));
  const detail = `: never fewer than ${fewest} addresses, ${costOf(seen, 'the update')}`;
  out.result('all 20 new pods are in the set, and no old one', seen.rightMs, detail);
};

const shrinks: Step = async ({ out, c1, checkout }) => {
  out.step(
    'It shrinks to a single pod',
    `19 pods are deleted. Their addresses must leave the set: other pods may soon
    get these addresses, and must not be allowed.`,
  );
  const { rightMs, last } = await observe(c1, setOf(checkout), () => checkout.scale(1));
  out.result('only the last pod is in the set', rightMs, `: ${contentOf(last.copy)?.ready.join(' and ')}`);
};

const otherDirection: Step = async ({ out, c1, c2, ledger }) => {
  out.step(
    'The other direction, with a token that has few rights',
    `In c1, a pod of the app ${ledger.app} starts
    in the namespace ${ledger.namespace}.`,
  );
  const { rightMs } = await observe(c2, setOf(ledger), () => ledger.scale(1));
  out.result(`c2 has a set ${ledger.setName}`, rightMs);
  out.say(
    `semaphore-policy of c2 reads c1 with a token. Look at the answers of c1: this token can only read Pods and namespaces.`,
  );
  const client = c1.server.clientFor(c1.policy.reader.token);
  const pods = `/api/v1/namespaces/${ledger.namespace}/pods`;
  const answers = {
    'list all pods': await client.request('GET', '/api/v1/pods'),
    'list all services': await client.request('GET', '/api/v1/services'),
    'delete a pod': await client.request('DELETE', `${pods}/${ledger.pods[0]?.name}`),
  };
  const textOf = ({ status, body }: Answer) => (status === 200 ? '200 OK' : `${status} ${String(body['reason'])}`);
  out.show(table(Object.entries(answers).map(([action, answer]) => [action, textOf(answer)])));
};

/** Changes of the pods of a workload, and of their set in the other cluster. */
export const sets: readonly Step[] = [firstPods, grows, rollsOut, shrinks, otherDirection];
