// Prints a line of JSON for each record of an archive, as warcio reads it:
// what it says, and the content with transfer and content coding taken off.
import { createReadStream } from "node:fs";
import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";

const [library, file] = process.argv.slice(2);
const { WARCParser } = await import(pathToFileURL(library));

for await (const record of new WARCParser(createReadStream(file), { keepHeadersCase: true })) {
	const content = await record.readFully(true);
	console.log(JSON.stringify({
		type: record.warcType,
		url: record.warcTargetURI ?? "",
		id: record.warcHeader("WARC-Record-ID"),
		concurrent: record.warcConcurrentTo ?? [],
		status: record.httpHeaders && record.warcType !== "request" ? record.httpHeaders.statusCode : 0,
		content: createHash("sha1").update(content).digest("hex"),
	}));
}
