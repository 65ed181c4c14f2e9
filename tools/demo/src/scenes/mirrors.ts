import { join } from 'node:path';
import { fewestReady } from '../stage/expectation.ts';
import { mirrorNamespace } from '../stage/mirror-watch.ts';
import { observeMirror } from '../stage/observe.ts';
import type { Scene } from '../stage/stage.ts';
import { selectorOf } from '../stage/workload-service.ts';
import type { Workload } from '../stage/workload.ts';
import { costOf } from '../text/cost.ts';
import { tellOfArrival } from './arrival.ts';

const selector = selectorOf('mirror');

const appears: Scene = {
  title: 'A Service of c2 becomes one of c1',
  async play({ backstage, c1, c2, line, checkout, tell, signal, onFailure }) {
    tell.say(
      'A policy lets somebody through, and still they need a name to call. In c1, semaphore-service-mirror now runs as well: ' +
        `it watches the Services of c2 that carry the label ${selector}, with their EndpointSlices.`,
    );
    const app = backstage.startApp({
      program: 'semaphore-service-mirror',
      cluster: c1.name,
      flags: {
        'svc-prefix': c2.name,
        'label-selector': selector,
        'mirror-ns': mirrorNamespace,
        'kube-config': c1.mirror.writer.kubeconfig,
        'target-kube-config': await line.kubeconfig(c2.mirror.reader),
        'listen-address': '127.0.0.1:0',
      },
      log: join(c1.server.dir, 'semaphore-service-mirror.log'),
      onDeath: onFailure,
    });
    tell.show(app.command);
    const [readyMs] = await Promise.all([app.ready({ signal }), checkout.scale(3)]);
    tell.milestone('semaphore-service-mirror is ready', readyMs);

    tell.say(
      `In c2, ${checkout.app} runs with 3 pods again, and now it gets a Service, and then an EndpointSlice for each family ` +
        'of addresses. The first is written at once, and what follows within 200 ms is collected, here too.',
    );
    const seen = await observeMirror({ site: c1, workload: checkout, signal }, () => checkout.expose('mirror'));
    tellOfArrival(tell, { name: checkout.mirrorName, outcome: 'all 3 pods of c2 are ready behind it', seen });
    tell.say(
      'It is a Service like any other, with an address of c1: whatever runs in c1 calls that, or its name, and kube-proxy ' +
        'leads it to the pods of c2, without anything in between. Whatever means something in c2 only, as the names of ' +
        'its nodes, is left out.',
    );
  },
};

/** A change of the pods, during which their mirror must not be without a ready one. */
type PodChange = {
  readonly title: string;
  readonly story: string;
  readonly change: (workload: Workload) => Promise<void>;
  /** What is waited for, and what the change is called. */
  readonly outcome: string;
  readonly noun: string;
};

const withoutAnEmptyMoment = ({ title, story, change, outcome, noun }: PodChange): Scene => ({
  title,
  async play({ c1, checkout, tell, signal }) {
    tell.say(story);
    const seen = await observeMirror({ site: c1, workload: checkout, signal }, () => change(checkout));
    tell.milestone(outcome, seen.rightMs, `: never fewer than ${fewestReady(seen.versions)}, ${costOf(seen, noun)}`);
  },
});

const grows = withoutAnEmptyMoment({
  title: 'It grows to 20 pods, and its mirror with it',
  story:
    'Another 17 pods start in c2. One EndpointSlice there is one here, so that a change of one endpoint is one write, ' +
    'however many Services and pods there are.',
  change: (workload) => workload.scale(20),
  outcome: 'all 20 pods are ready behind the mirror',
  noun: 'creating the pods',
});

const rollsOut = withoutAnEmptyMoment({
  title: 'A rolling update without an empty moment',
  story:
    'A new version rolls out in c2, 5 pods at a time. The demo watches the mirror’s EndpointSlices as kube-proxy does, ' +
    'and counts what is ready after each change: a moment without would be one in which callers are refused.',
  change: (workload) => workload.rollOut(),
  outcome: 'only the 20 new pods are ready behind the mirror',
  noun: 'the update',
});

const goes: Scene = {
  title: 'The Service goes, and its mirror with it',
  async play({ c1, checkout, tell, signal }) {
    tell.say(`In c2, somebody deletes the Service of ${checkout.app}, whose pods go on.`);
    const { rightMs } = await observeMirror({ site: c1, workload: checkout, signal }, () => checkout.withdraw());
    tell.milestone('c1 has neither the mirror nor EndpointSlices of it any more', rightMs);
  },
};

/** A Service's life, and what the other cluster makes of it. */
export const mirrors: readonly Scene[] = [appears, grows, rollsOut, goes];
