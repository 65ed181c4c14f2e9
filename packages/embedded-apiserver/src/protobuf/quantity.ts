import { string, type Field } from './schema.ts';

/** An amount of something, as text: `500m`, `1Gi`. k8s.io/apimachinery v0.34, pkg/api/resource/generated.proto. */
export const quantity =
  (number: number): Field =>
  (out, value) =>
    out.nested(number, () => string(1)(out, value));
