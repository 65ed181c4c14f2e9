import { invalidValue } from '../http/causes.ts';
import { badRequest, type Cause } from '../http/status.ts';
import type { KubeObject } from '../test-cluster.ts';

type Spec = {
  readonly acquireTime?: unknown;
  readonly renewTime?: unknown;
  readonly leaseDurationSeconds?: number | null;
  readonly leaseTransitions?: number | null;
};

const specOf = (lease: KubeObject) => (lease['spec'] ?? {}) as Spec;

/** The rules that our Leases could break. */
export function* leaseRules(lease: KubeObject): Generator<Cause> {
  const { leaseDurationSeconds: seconds, leaseTransitions: transitions } = specOf(lease);
  if (typeof seconds === 'number' && seconds <= 0)
    yield invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0');
  if (typeof transitions === 'number' && transitions < 0)
    yield invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0');
}

/** MicroTime wants exactly six digits, where Date.toISOString() has three. @throws {ApiError} 400 */
export function checkLeaseTimes(lease: KubeObject): void {
  const { acquireTime, renewTime } = specOf(lease);
  for (const time of [acquireTime, renewTime]) {
    if (time === undefined || time === null) continue;
    if (typeof time !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/.test(time)) {
      throw badRequest(
        `Lease in version "v1" cannot be handled as a Lease: parsing time ${JSON.stringify(JSON.stringify(time))} as ` +
          '"2006-01-02T15:04:05.000000Z07:00": cannot parse',
      );
    }
  }
}
