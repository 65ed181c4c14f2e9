import { observe } from '../stage/observe.ts';
import type { Site } from '../stage/site.ts';
import type { Scene } from '../stage/stage.ts';
import type { Workload } from '../stage/workload.ts';
import { table } from '../text/table.ts';

/** The same from c1 to c2, and how little it takes. */
export const otherDirection: readonly Scene[] = [
  {
    title: 'The other way round, with a token that may do very little',
    async play({ c1, c2, ledger, tell, signal }) {
      tell.say(`In c1, a pod of the app ${ledger.app} starts in the namespace ${ledger.namespace}.`);
      const { rightMs } = await observe({ site: c2, workload: ledger, signal }, () => ledger.scale(1));
      tell.milestone(`c2 has a set ${ledger.setName}`, rightMs);
      tell.say(
        'Look at what c1 answers to the token by which semaphore-policy of c2 knows that: who is watched gives away ' +
          'nothing but Pods, and lets nothing be changed.',
      );
      tell.show(table(await answersToReader(c1, ledger)));
    },
  },
];

/** What the other cluster's app may do in `site`, and what it may not: actions and answers. */
async function answersToReader({ server, policy }: Site, { namespace, pods }: Workload): Promise<string[][]> {
  const client = server.clientFor(policy.reader.token);
  const name = pods[0]?.object.metadata.name;
  const answers = {
    'list all pods': await client.request('GET', '/api/v1/pods'),
    'list all services': await client.request('GET', '/api/v1/services'),
    'delete a pod': await client.request('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`),
  };
  return Object.entries(answers).map(([action, { status, body }]) => [
    action,
    status === 200 ? '200 OK' : `${status} ${String(body['reason'])}`,
  ]);
}
