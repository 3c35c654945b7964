// Mulligan has Pi go on after a failure with a prompt of its own. The model never sees it:
// what it gets is the request that failed.
const goOn = "GO_ON";

function text(content) {
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

export default function (pi) {
  pi.on("context", (event) => ({
    messages: event.messages.filter((message) => message.role !== "user" || text(message.content) !== goOn),
  }));
}
