// Prints a JSON line for each record of a WARC file, as warcio reads it, with
// header fields and the digest of the decoded content.
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
