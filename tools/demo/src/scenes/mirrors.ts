import { join } from 'node:path';
import { fewestReady } from '../stage/expectation.ts';
import { mirrorNamespace } from '../stage/mirror-watch.ts';
import { observeMirror } from '../stage/observe.ts';
import type { Scene } from '../stage/stage.ts';
import { mirrorLabel } from '../stage/workload-service.ts';
import { formatDuration } from '../text/duration.ts';
import { serviceYaml, sliceLines } from '../text/mirror-manifests.ts';

const [[labelKey, labelValue]] = Object.entries(mirrorLabel) as [[string, string]];
const selector = `${labelKey}=${labelValue}`;

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
    const { rightMs, versions } = await observeMirror({ site: c1, workload: checkout, signal }, () => checkout.expose());
    const [first, last] = [versions[0], versions.at(-1)?.value];
    if (!first || !last?.service) throw new Error(`${checkout.mirrorName} is right, and yet it is missing`);
    tell.milestone(`c1 has a Service ${checkout.mirrorName}`, first.ms);
    tell.milestone('all 3 pods of c2 are ready behind it', rightMs);
    tell.show(serviceYaml(last.service));
    tell.show(sliceLines(last));
    tell.say(
      'It is a Service like any other, with an address of c1: whatever runs in c1 calls that, or its name, and kube-proxy ' +
        'leads it to the pods of c2, without anything in between. Whatever means something in c2 only, as the names of ' +
        'its nodes, is left out.',
    );
  },
};

const grows: Scene = {
  title: 'It grows to 20 pods, and its mirror with it',
  async play({ c1, checkout, tell, signal }) {
    tell.say(
      'Another 17 pods start in c2. One EndpointSlice there is one here, so that a change of one endpoint is one write, ' +
        'however many Services and pods there are.',
    );
    const { rightMs, changeMs, versions } = await observeMirror({ site: c1, workload: checkout, signal }, () => checkout.scale(20));
    tell.milestone(
      'all 20 pods are ready behind the mirror',
      rightMs,
      `: never fewer than ${fewestReady(versions)}, in ${versions.length} writes (creating the pods took ` +
        `${formatDuration(changeMs)} of it)`,
    );
  },
};

const rollsOut: Scene = {
  title: 'A rolling update without an empty moment',
  async play({ c1, checkout, tell, signal }) {
    tell.say(
      'A new version rolls out in c2, 5 pods at a time. The demo watches the mirror’s EndpointSlices as kube-proxy does, ' +
        'and counts what is ready after each change: a moment without would be one in which callers are refused.',
    );
    const { rightMs, changeMs, versions } = await observeMirror({ site: c1, workload: checkout, signal }, () => checkout.rollOut());
    tell.milestone(
      'only the 20 new pods are ready behind the mirror',
      rightMs,
      `: never fewer than ${fewestReady(versions)}, in ${versions.length} writes (the update took ` +
        `${formatDuration(changeMs)} of it)`,
    );
  },
};

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
