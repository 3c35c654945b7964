// Mulligan has the requests of Pi pass its proxy, so that it sees how they go. Only a provider
// whose models are all asked at the address that the proxy leads to is changed.
const routes = (globalThis[Symbol.for("mulligan.routes")] ??= JSON.parse(process.env.MULLIGAN_PI_OBSERVE ?? "{}"));
delete process.env.MULLIGAN_PI_OBSERVE; // the commands that the model runs need not see it

export default function (pi) {
  const leadsTo = (model, route) => (model.baseUrl ?? "").replace(/\/+$/, "") === route.from;

  pi.on("session_start", async (_event, ctx) => {
    const available = ctx.modelRegistry.getAvailable();
    for (const [provider, route] of Object.entries(routes)) {
      const models = available.filter((model) => model.provider === provider);
      if (models.length > 0 && models.every((model) => leadsTo(model, route))) {
        pi.registerProvider(provider, { baseUrl: route.to });
      }
    }
    const route = routes[ctx.model?.provider];
    if (route && leadsTo(ctx.model, route)) { // a model that Pi does not list
      await pi.setModel({ ...ctx.model, baseUrl: route.to });
    }
  });
}
