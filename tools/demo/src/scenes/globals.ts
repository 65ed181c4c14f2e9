import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../stage/app.ts';
import { fewestReady } from '../stage/expectation.ts';
import { record } from '../stage/latest.ts';
import { mirrorNamespace } from '../stage/mirror-watch.ts';
import { observeGlobal } from '../stage/observe.ts';
import { exposeInTurn, globalSubject } from '../stage/shops.ts';
import type { Scene, Stage } from '../stage/stage.ts';
import { selectorOf } from '../stage/workload-service.ts';
import { sliceLines } from '../text/mirror-manifests.ts';
import { tellOfArrival } from './arrival.ts';

/** Without a word from c2 for so long, its endpoints don't count; in production that is rather minutes. */
const STALE_AFTER = '500ms';

const merged: Scene = {
  title: 'One Service over both clusters',
  async play(stage) {
    const { shops, tell, signal } = stage;
    const { namespace, app, globalName } = shops.c1;
    tell.say(
      `${app} is an app that runs in c1 and in c2, with 2 pods in each. Of Services that carry the label ${selectorOf('global')} ` +
        'and have the same name and namespace, semaphore-service-mirror makes one: a global Service. It takes that from a file, ' +
        'which may name many clusters, and is started anew with it:',
    );
    const file = await configFile(stage);
    tell.show(JSON.stringify(file, null, 2).split('\n'));
    const mirror = await restartWith(stage, file);
    tell.show(mirror.command);
    const [readyMs] = await Promise.all([mirror.ready({ signal }), shops.c1.scale(2), shops.c2.scale(2)]);
    tell.milestone('semaphore-service-mirror is ready again', readyMs);

    tell.say(`${app} gets its Service in c1, and then in c2. The older one decides wherever they don’t agree.`);
    const seen = await observeGlobal(globalSubject(stage), () => exposeInTurn(shops));
    tellOfArrival(tell, { name: globalName, outcome: 'the pods of both clusters are ready behind it', seen });
    tell.say(
      'Look at the addresses: whoever calls it reaches a pod of c1 or one of c2. Were it labelled for local-first routing, its ' +
        'endpoints would have hints, and calls would stay in c1 as long as a pod there is ready. By a rule in CoreDNS, which ' +
        `docs/service-mirror.md has, it is called ${app}.${namespace}.svc.cluster.global, in every cluster alike.`,
    );
  },
};

const survives: Scene = {
  title: 'One of the clusters is lost',
  async play(stage) {
    const { c1, c2, line, shops, tell } = stage;
    using seen = record(c1.mirrors, shops.c1.globalName);
    tell.say(
      'The API server of c2 is lost, and nobody knows more: its pods may be well, so by itself that changes nothing. But if they ' +
        `are gone, too, half of the calls fail. That is what staleAfter in the file is for: ${STALE_AFTER} after the last word from c2, ` +
        'which may have come before the loss, its endpoints no longer count as ready, if those of another cluster are.',
    );
    const lost = await observeGlobal({ ...globalSubject(stage), lost: [c2.name] }, () => line.set({ kind: 'refuse' }));
    tell.milestone('only the pods of c1 are ready behind it', lost.rightMs);
    tell.show(sliceLines(lost.versions.at(-1)?.value));

    tell.say('The API server of c2 is there again, and its pods count as soon as one of the next attempts reaches it.');
    const { rightMs } = await observeGlobal(globalSubject(stage), () => line.clear());
    tell.milestone(
      'the pods of both clusters are ready behind it again',
      rightMs,
      `: never fewer than ${fewestReady(seen.versions)} pods, while a whole cluster went and came back`,
    );
  },
};

const leave: Scene = {
  title: 'The clusters leave it, one after the other',
  async play(stage) {
    const { shops, tell } = stage;
    tell.say(`In c2, somebody deletes the Service of ${shops.c2.app}, which only takes away what came from there.`);
    const left = await observeGlobal(globalSubject(stage), () => shops.c2.withdraw());
    tell.milestone('c1 has no EndpointSlices of c2 any more', left.rightMs, `: the Service stays, with ${fewestReady(left.versions)} pods of c1`);
    tell.say('In c1, too: that was the last one.');
    const { rightMs } = await observeGlobal(globalSubject(stage), () => shops.c1.withdraw());
    tell.milestone('c1 has neither the global Service nor EndpointSlices of it any more', rightMs);
  },
};

/** What semaphore-service-mirror of c1 is to do: mirror as before, and merge. */
async function configFile({ c1, c2, line }: Stage): Promise<object> {
  return {
    global: {
      mirrorSvcLabelSelector: selectorOf('mirror'),
      globalSvcLabelSelector: selectorOf('global'),
      globalSvcHints: 'labelled',
      mirrorNamespace,
      serviceSync: true,
      endpointSliceSync: true,
    },
    localCluster: { name: c1.name, kubeConfigPath: c1.mirror.writer.kubeconfig },
    remoteClusters: [
      { name: c2.name, servicePrefix: c2.name, kubeConfigPath: await line.kubeconfig(c2.mirror.reader), staleAfter: STALE_AFTER },
    ],
  };
}

/** Stops semaphore-service-mirror of c1, and starts it with a config file in the place of its flags. */
async function restartWith({ backstage, c1 }: Stage, file: object): Promise<App> {
  const former = backstage.runningProgram('semaphore-service-mirror', c1.name);
  const config = join(c1.server.dir, 'service-mirror.json');
  await Promise.all([former.stop(), writeFile(config, JSON.stringify(file))]);
  return backstage.startApp({
    ...former.options,
    flags: { config, 'listen-address': '127.0.0.1:0' },
    log: join(c1.server.dir, 'semaphore-service-mirror-global.log'),
  });
}

/** A Service of two clusters, and what becomes of it when one of them is lost or leaves. */
export const globals: readonly Scene[] = [merged, survives, leave];
