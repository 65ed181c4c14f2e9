import {
  globalServiceLabel,
  managedByLabel,
  mirroredServiceLabel,
  mirroredSliceLabel,
  sliceManagedByLabel,
  sliceManager,
} from '../../names.ts';

/** Whether a service mirror made a Service or EndpointSlice. Such an object is never a source: mirrors aren't mirrored. */
export function isOwnProduct(labels: Readonly<Record<string, string>>): boolean {
  return (
    [mirroredServiceLabel, globalServiceLabel, mirroredSliceLabel].some((label) => labels[label] === 'true') ||
    [sliceManagedByLabel, managedByLabel].some((label) => labels[label] === sliceManager)
  );
}
