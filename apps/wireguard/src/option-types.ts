import { calicoDevices, isDeviceName, isDnsLabel, MAX_DEVICE_NAME } from '@kube-semaphore/naming';
import { bad, good } from '@kube-semaphore/net';
import type { OptionType } from '@kube-semaphore/options';

/** The name of a cluster: annotations of Nodes begin with it. */
export const clusterName: OptionType<string> = {
  label: 'name',
  format: String,
  parse: (raw) => (isDnsLabel(raw) ? good(raw) : bad(`${excerpt(raw)} is no cluster's name: 1 to 63 letters a-z, digits and inner hyphens`)),
};

/** The name of a network device that may be ours. */
export const deviceNameType: OptionType<string> = {
  label: 'device',
  format: String,
  parse(raw) {
    if (!isDeviceName(raw)) return bad(`${excerpt(raw)} is no name of a device: 1 to ${MAX_DEVICE_NAME} characters without "/", ":" and spaces`);
    return calicoDevices.includes(raw) ? bad(`${raw} is a device of Calico's own`) : good(raw);
  },
};

function excerpt(raw: string): string {
  return JSON.stringify(raw.length > 80 ? `${raw.slice(0, 80)}…` : raw);
}
