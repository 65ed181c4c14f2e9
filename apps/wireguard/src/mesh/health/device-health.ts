import type { Outcome, ReconcileContext } from '@kube-semaphore/controller';
import type { Logger } from '@kube-semaphore/runtime';
import type { Link } from '@kube-semaphore/wireguard-tools';
import type { RemoteSettings } from '../../config/settings.ts';
import { handshakeAge, type HandshakeClock } from '../desired/handshake.ts';
import { DeviceError } from '../local/device.ts';
import { type Observation, refusedPacketsOf } from '../local/observe.ts';
import type { WireGuardMetrics } from '../../metrics/metrics.ts';
import { FailureLog } from './failure-log.ts';
import { SilentPeers } from './silent-peers.ts';

/** What a reconcile of a device did. `peers`: how many it changed. */
export type DeviceOutcome = Outcome & { readonly peers: number };

type DeviceName = Pick<RemoteSettings, 'name' | 'device'>;

type Circumstances = Pick<ReconcileContext, 'since'> & { readonly wasSetUp: boolean };

export type DeviceHealthOptions = {
  readonly metrics: WireGuardMetrics;
  readonly log: Logger;
  readonly clock: () => HandshakeClock;
};

/** Whether each remote's device is set up and its tunnels work, for readiness, log and metrics. */
export class DeviceHealth {
  readonly #options: DeviceHealthOptions;
  readonly #failures: FailureLog;
  readonly #silentPeers = new Map<string, SilentPeers>();
  /** By counter and remote: what the kernel had counted when it was last observed. */
  readonly #counted = new Map<string, number>();
  readonly #setUp = new Set<string>();
  readonly #awaited = new Set<string>();

  constructor(options: DeviceHealthOptions) {
    this.#options = options;
    this.#failures = new FailureLog(options.log);
  }

  /** Whether a remote's device was set up, and isn't known to be gone. */
  isSetUp(remote: string): boolean {
    return this.#setUp.has(remote);
  }

  /** Remotes whose device another program has to make. */
  get awaited(): Iterable<string> {
    return this.#awaited;
  }

  /** Why the last reconcile failed; undefined: it didn't, or there was none. */
  failureOf(remote: string): string | undefined {
    return this.#failures.reasonOf(remote);
  }

  /** The device is set up. Its peers may be missing. */
  setUp(remote: string): void {
    this.#setUp.add(remote);
  }

  /** Logs the peers of a remote's device that stopped or started to answer, and counts its bytes, and the packets that it refused. */
  observed(
    remote: string,
    { device, link, second }: Pick<Observation, 'device' | 'link'> & { readonly second?: Link | undefined },
  ): void {
    const { log, metrics } = this.#options;
    metrics.refusedPackets.inc({ remote }, this.#increase(`refused ${remote}`, refusedPacketsOf(link)));
    for (const [plane, each] of [link, second].entries()) {
      metrics.receivedBytes.inc({ remote }, this.#increase(`received ${plane} ${remote}`, each?.receivedBytes));
      metrics.sentBytes.inc({ remote }, this.#increase(`sent ${plane} ${remote}`, each?.sentBytes));
    }
    const clock = this.#options.clock();
    const silentPeers = this.#silentPeers.get(remote) ?? new SilentPeers();
    this.#silentPeers.set(remote, silentPeers);
    const { lost, back } = silentPeers.update(device?.peers ?? [], clock);
    for (const peer of lost) {
      const { publicKey, endpoint, allowedIps } = peer;
      const handshakeSeconds = handshakeAge(peer, clock.nowSeconds);
      log.warn({ cluster: remote, peer: publicKey, endpoint, allowedIps, handshakeSeconds }, 'peer does not answer');
    }
    for (const { publicKey } of back) log.info({ cluster: remote, peer: publicKey }, 'peer answers again');
  }

  /** What is from before our start doesn't count: a restart would seem to be a burst. A new device counts from zero. */
  #increase(counter: string, total = 0): number {
    const before = this.#counted.get(counter) ?? total;
    this.#counted.set(counter, total);
    return total < before ? total : total - before;
  }

  /** A remote left the config. */
  forget(remote: string): void {
    this.#setUp.delete(remote);
    this.#awaited.delete(remote);
    this.#silentPeers.delete(remote);
    for (const counter of ['refused', 'received 0', 'received 1', 'sent 0', 'sent 1'])
      this.#counted.delete(`${counter} ${remote}`);
    this.#failures.forget(remote);
  }

  /** A reconcile begins. @returns whether the device was set up before */
  started(remote: string): boolean {
    this.#awaited.delete(remote);
    return this.#setUp.has(remote);
  }

  /** A reconcile succeeded. @param wasSetUp as `started` returned it: the first setup of a device is not a repair */
  succeeded({ name, device }: DeviceName, { wrote, peers, since, wasSetUp }: DeviceOutcome & Circumstances): void {
    const { metrics } = this.#options;
    metrics.syncPeers.inc({ device, success: '1' });
    if (since === undefined && wasSetUp && wrote) metrics.repairs.inc({ remote: name });
    if (since !== undefined && peers > 0)
      metrics.propagation.observe({ remote: name }, (performance.now() - since) / 1000);
    this.#failures.succeeded(name);
  }

  /**
   * A reconcile failed.
   *
   * @returns whether its device is awaited from now on, as another program has to create it: backoff would delay us then
   */
  failed({ name, device }: DeviceName, error: unknown): boolean {
    const { metrics } = this.#options;
    metrics.syncPeers.inc({ device, success: '0' });
    metrics.requeues.inc({ device });
    if (!(error instanceof DeviceError && error.isAwaited)) return false;
    this.#setUp.delete(name);
    this.#awaited.add(name);
    this.#failures.failed({ key: name, error });
    return true;
  }

  /** A failed reconcile will be retried. */
  retrying(failure: Parameters<FailureLog['failed']>[0]): void {
    this.#failures.failed(failure);
  }
}
