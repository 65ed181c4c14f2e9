import {
  globalServiceLabel,
  mirroredServiceLabel,
  mirroredSliceLabel,
  sliceManagedByLabel,
  sliceManager,
} from '../names.ts';

/** Whether a Service or EndpointSlice is one that a service mirror made: never a source, or mirrors would be mirrored. */
export function isOwnProduct(labels: Readonly<Record<string, string>>): boolean {
  return (
    [mirroredServiceLabel, globalServiceLabel, mirroredSliceLabel].some((label) => labels[label] === 'true') ||
    labels[sliceManagedByLabel] === sliceManager
  );
}
