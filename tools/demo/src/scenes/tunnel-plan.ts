import { randomBytes } from 'node:crypto';
import { endpointAnnotation, pubKeyAnnotation } from '@kube-semaphore/naming';
import type { Ability } from '../stage/ability.ts';
import { prepareAgent } from '../stage/agent.ts';
import { commandLines } from '../stage/app.ts';
import { runWord } from '../stage/program.ts';
import { createNode } from '../stage/site.ts';
import type { Scene } from '../stage/stage.ts';

type NoTunnels = Exclude<Ability, { kind: 'tunnels' }>;

const title = 'A tunnel between the nodes';

const subject =
  'What has a name and is let in must still get there. semaphore-wireguard runs on every node of every cluster: it announces its ' +
  'node to the other clusters, and makes their nodes its peers.';

/** What would be shown, and why it isn't. */
const whatIsMissing = (lacks: readonly string[]): string =>
  'With nodes in network namespaces, the demo shows pods that reach each other through such a tunnel, what can be read on the way, and ' +
  `an agent that is killed without the loss of a packet. For that it lacks here: ${lacks.join('; ')}.`;

const untold = ({ lacks }: NoTunnels): Scene => ({
  title,
  play({ tell }) {
    tell.say(subject);
    tell.say(whatIsMissing(lacks));
    return Promise.resolve();
  },
});

const planned = ({ lacks, path }: Extract<NoTunnels, { kind: 'plan' }>): Scene => ({
  title,
  async play({ c1, c2, tell, signal }) {
    tell.say(subject);
    tell.say(whatIsMissing(lacks));
    // Addresses that nobody has (RFC 5737), and a key that nobody knows.
    const [ours, theirs] = ['192.0.2.1', '192.0.2.2'];
    const annotations = { [pubKeyAnnotation(c1.name)]: randomBytes(32).toString('base64'), [endpointAnnotation(c1.name)]: `${theirs}:51820` };
    await Promise.all([createNode(c1, { internalIPs: [ours] }), createNode(c2, { internalIPs: [theirs], annotations })]);
    tell.say(
      `What it would do is no secret: Node ${c1.node.name} of ${c1.name} is taken for this machine, and Node ${c2.node.name} of ${c2.name} ` +
        'says what an agent there would announce. This looks, and changes nothing:',
    );
    const { invocation } = await prepareAgent(c1, c2);
    tell.show(commandLines('semaphore-wireguard plan', invocation.flags));
    const startMs = performance.now();
    const { code, lines } = await runWord({ ...invocation, word: 'plan', path }, { signal });
    if (code === 0) tell.milestone('this is what the agent would do here', performance.now() - startMs);
    else tell.say('It finds that something on this machine is in the way, and would not begin:');
    tell.show(lines);
  },
});

/** What there is to say of tunnels where none can be had. */
export const tunnelPlan = (ability: NoTunnels): readonly Scene[] => [ability.kind === 'plan' ? planned(ability) : untold(ability)];
