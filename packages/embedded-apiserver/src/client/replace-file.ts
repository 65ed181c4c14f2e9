import { rename, writeFile } from 'node:fs/promises';

/** Writes a file as a kubelet does: who reads it meanwhile has the text of before, or all of the new one. @param mode its permissions */
export async function replaceFile(file: string, text: string, mode = 0o644): Promise<void> {
  const next = `${file}.next`;
  await writeFile(next, text, { mode });
  await rename(next, file);
}
