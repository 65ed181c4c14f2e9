import { calicoDevices, isClusterName, isDeviceName, MAX_DEVICE_NAME } from '../names.ts';
import { bad, good } from '@kube-semaphore/net';
import type { OptionType } from '@kube-semaphore/options';

/** The name of a cluster: annotations of Nodes begin with it, as it is written. */
export const clusterName: OptionType<string> = {
  label: 'name',
  format: String,
  parse: (raw) =>
    isClusterName(raw)
      ? good(raw)
      : bad(`${excerpt(raw)} is no cluster's name: letters, digits, and inner hyphens and dots`),
};

/** The name of a network device that may be ours. */
export const deviceNameType: OptionType<string> = {
  label: 'device',
  format: String,
  parse(raw) {
    if (!isDeviceName(raw))
      return bad(
        `${excerpt(raw)} is no name of a device: 1 to ${MAX_DEVICE_NAME} characters without "/", ":" and spaces`,
      );
    return calicoDevices.includes(raw) ? bad(`${raw} is a device of Calico's own`) : good(raw);
  },
};

function excerpt(raw: string): string {
  return JSON.stringify(raw.length > 80 ? `${raw.slice(0, 80)}…` : raw);
}
