import { invite, suggestNext, sumUp } from './closing.ts';
import { untilAborted } from './interruption.ts';
import type { Narrator } from './narrator.ts';
import { scenesFor } from './scenes/index.ts';
import type { Ability } from './stage/ability.ts';
import type { Backstage } from './stage/backstage.ts';
import { setStage } from './stage/set-stage.ts';
import { picture } from './text/picture.ts';

/** What a demo needs. */
export type DemoOptions = {
  readonly backstage: Backstage;
  readonly tell: Narrator;
  readonly keep: boolean;
  readonly real: boolean;
  /** What of semaphore-wireguard this machine can show. */
  readonly ability: Ability;
  /** Ends the demo: an `Interruption` if nothing is wrong, any other error if it has failed. */
  readonly stop: AbortController;
};

/** Plays everything, closes the stage and says what came of it; with `keep` it closes when it is interrupted. */
export async function play({ backstage, tell, keep, real, ability, stop }: DemoOptions): Promise<void> {
  const { signal } = stop;
  const startMs = performance.now();
  introduce(tell);
  const onFailure = (error: Error) => {
    // What ends when the stage is closed ends because of that.
    if (backstage.isOpen) stop.abort(error);
  };
  const stage = await setStage({ backstage, tell, signal, real, onFailure });
  for (const scene of scenesFor({ ability, real })) {
    tell.scene(scene.title);
    await scene.play(stage);
  }
  sumUp(stage, performance.now() - startMs);
  if (keep) {
    await invite(stage);
    await untilAborted(new Promise<never>(() => {}), signal);
  }
  await backstage.close();
  suggestNext(stage);
}

/** Tells somebody who never heard of it what this is about. */
function introduce(tell: Narrator): void {
  tell.say(
    'kube-semaphore connects Kubernetes clusters without anything in the middle: each cluster runs a few small ' +
      'programs that watch the API servers of the others, and keep local objects that say what is there. This demo ' +
      'shows all three of them. semaphore-policy is for network policies across clusters: it keeps the addresses of another ' +
      'cluster’s pods in GlobalNetworkSets, lists of addresses that Calico’s policies select by label. ' +
      'semaphore-service-mirror is for calls across clusters: it keeps Services of another cluster, with their ' +
      'endpoints, as Services of its own, and makes one of those that several clusters have. semaphore-wireguard is for the ' +
      'packets: it joins the nodes of all clusters by encrypted tunnels, through which their pods reach each other.',
  );
  tell.show(picture);
}
