import { checkedText } from '@kube-semaphore/options';
import { calicoDevices, isClusterName, isDeviceName, MAX_DEVICE_NAME } from '../names.ts';

/** The name of a cluster: annotations of Nodes begin with it, verbatim. */
export const clusterName = checkedText('name', (raw) =>
  isClusterName(raw) ? undefined : 'is not a valid cluster name: letters, digits, and inner hyphens and dots',
);

/** The name of a network device that may be ours. */
export const deviceNameType = checkedText('device', (raw) => {
  if (!isDeviceName(raw))
    return `is not a valid device name: 1 to ${MAX_DEVICE_NAME} characters without "/", ":" and spaces`;
  return calicoDevices.includes(raw) ? 'is a device of Calico' : undefined;
});
