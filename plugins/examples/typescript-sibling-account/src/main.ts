import { serve } from "@mulligan-run/plugin";

import { configSchema, configure, siblingAccount } from "./sibling.js";

serve(siblingAccount, { name: "typescript-sibling-account", version: "0.1.0", configSchema, configure });
