/** The models that a server lists, made sense of: what it does not tell is left out. */

export interface Model {
  readonly name: string;
  readonly description: string;
  readonly size: string;
  readonly licence: string;
  readonly fit: string;
}

export function asModels(raw: unknown): Model[] {
  return (Array.isArray(raw) ? raw : []).flatMap((one: unknown) => {
    const told = (typeof one === "object" && one !== null ? one : {}) as Record<string, unknown>;
    const text = (key: string) => (typeof told[key] === "string" ? told[key] : "");
    const model = {
      name: text("name"),
      description: text("description"),
      size: text("size"),
      licence: text("licence") || text("license"),
      fit: text("fit"),
    };
    return model.name ? [model] : [];
  });
}

export function describedModel(model: Model, current: string): { label: string; description: string; detail: string } {
  return {
    label: model.name === current ? `$(check) ${model.name}` : model.name,
    description: [model.size, model.licence].filter(Boolean).join(" · "),
    detail: [model.fit, model.description].filter(Boolean).join(" · "),
  };
}
