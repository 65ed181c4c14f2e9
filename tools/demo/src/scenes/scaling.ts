import { observe } from '../stage/observe.ts';
import type { Scene } from '../stage/stage.ts';
import { memberLabel } from '../stage/workload.ts';
import { costOf } from '../text/cost.ts';
import { networkSetYaml, policyYaml } from '../text/manifests.ts';
import { table } from '../text/table.ts';

const firstPods: Scene = {
  title: 'A workload starts in c2, and c1 gets to know it',
  async play({ c1, checkout, ledger, tell, signal }) {
    tell.say(
      `In c2, 3 pods of the app ${checkout.app} start in the namespace ${checkout.namespace}. They carry the label ` +
        `${memberLabel}: ${checkout.app}, by which their owner makes them known to other clusters.`,
    );
    const { rightMs, versions } = await observe({ site: c1, workload: checkout, signal }, () => checkout.scale(3));
    tell.show(table(checkout.pods.map(({ object, ips }) => [object.metadata.name, ips.join(', ')])));
    const [first, last] = [versions[0], versions.at(-1)];
    if (!first || !last?.value) throw new Error(`${checkout.setName} is right, and yet it is missing`);
    tell.milestone(`c1 has a set ${checkout.setName}`, first.ms, `, with ${first.value?.nets.length} addresses`);
    tell.milestone('all 3 pods are in it', rightMs);
    tell.show(networkSetYaml(last.value));
    tell.say(
      'Look at the nets: they are the addresses of the pods. And at the labels, by which a Calico policy in c1 ' +
        `selects the set. This one lets ${checkout.app} of c2 talk to ${ledger.app}, an app of c1:`,
    );
    tell.show(policyYaml(last.value, ledger));
  },
};

const scaleUp: Scene = {
  title: 'It grows to 20 pods',
  async play({ c1, checkout, tell, signal }) {
    tell.say(
      'Another 17 pods start, all within moments. Look at the number of writes: the first change is written at once, ' +
        'and those that follow are collected, so that a rollout of any size costs a set 5 writes a second at most.',
    );
    const grown = await observe({ site: c1, workload: checkout, signal }, () => checkout.scale(20));
    const nets = grown.versions.at(-1)?.value?.nets.length;
    tell.milestone('all 20 pods are in the set', grown.rightMs, `: ${nets} addresses, ${costOf(grown, 'creating the pods')}`);
  },
};

const rollingUpdate: Scene = {
  title: 'A rolling update replaces every pod',
  async play({ c1, checkout, tell, signal }) {
    tell.say(
      'A new version rolls out, 5 pods at a time: new ones run before old ones go. Look at the least that the set ' +
        'had meanwhile: it was never emptied to be filled again.',
    );
    const updated = await observe({ site: c1, workload: checkout, signal }, () => checkout.rollOut());
    const least = Math.min(...updated.versions.map(({ value }) => value?.nets.length ?? 0));
    tell.milestone(
      'all 20 new pods are in the set, and none of the old ones',
      updated.rightMs,
      `: never fewer than ${least} addresses, ${costOf(updated, 'the update')}`,
    );
  },
};

const scaleDown: Scene = {
  title: 'It shrinks to a single pod',
  async play({ c1, checkout, tell, signal }) {
    tell.say(
      '19 pods go. Their addresses must go with them: soon they may be those of other pods, which nobody meant to ' +
        'let in.',
    );
    const { rightMs, versions } = await observe({ site: c1, workload: checkout, signal }, () => checkout.scale(1));
    const nets = versions.at(-1)?.value?.nets ?? [];
    tell.milestone('only the last pod is in the set', rightMs, `: ${nets.join(' and ')}`);
  },
};

/** A workload's life, and what the other cluster makes of it. */
export const scaling: readonly Scene[] = [firstPods, scaleUp, rollingUpdate, scaleDown];
