import type { CalicoApi } from '@kube-semaphore/kube-objects';

/** Where Calico's resources are: in its own API server, if it has one. */
export function calicoApi(groups: ReadonlySet<string>): CalicoApi | undefined {
  if (groups.has('projectcalico.org')) return 'projectcalico.org/v3';
  return groups.has('crd.projectcalico.org') ? 'crd.projectcalico.org/v1' : undefined;
}
