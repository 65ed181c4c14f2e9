import { forbiddenValue } from '../http/causes.ts';
import { badRequest, invalid } from '../http/status.ts';

const refuse = (field: string, why: string) => invalid('meta.k8s.io', 'ListOptions', '', [forbiddenValue(field, why)]);

/** @throws {ApiError} 422 for options that a list doesn't have, or that exclude each other */
export function checkListOptions(query: URLSearchParams): void {
  const match = query.get('resourceVersionMatch') ?? '';
  if (match === 'Exact') throw badRequest('the embedded server has no lists of the past');
  if (query.has('sendInitialEvents')) throw refuse('sendInitialEvents', 'sendInitialEvents is forbidden for list');
  if (match !== '' && !query.get('resourceVersion')) {
    throw refuse('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided');
  }
}

/** @throws {ApiError} 422 for options that a watch doesn't have, or that exclude each other */
export function checkWatchOptions(query: URLSearchParams): void {
  const match = query.get('resourceVersionMatch') ?? '';
  const why = query.has('sendInitialEvents')
    ? match !== 'NotOlderThan' && 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'
    : match !== '' && 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
  if (why) throw refuse('resourceVersionMatch', why);
}
