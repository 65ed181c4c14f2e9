import * as z from 'zod/mini';
import { UsageError } from '../../usage-error.ts';
import type { Files } from './folder.ts';

/** What a file has; one that isn't there is empty. @throws {UsageError} with its name, and the field that is not valid */
export function jsonIn<T extends z.ZodMiniType>(files: Files, name: string, schema: T): z.output<T> {
  const checked = schema.safeParse(valueOf(files, name));
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const keys = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = [...(issue?.path ?? []), ...keys].join('.');
  throw new UsageError(
    `${name}: ${field === '' ? 'it' : field} ${keys.length > 0 ? 'is not known' : 'is not valid'}: correct it`,
  );
}

function valueOf(files: Files, name: string): unknown {
  try {
    return JSON.parse(files.get(name) ?? '{}');
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message}: correct it`);
  }
}
