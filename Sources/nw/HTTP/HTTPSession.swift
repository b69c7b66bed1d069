import ArgumentParser
import Causeway
import CausewayHTTP
import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// One run of `nw http`.
struct HTTPSession: Sendable {
    let start: HTTPConversation.Start
    let route: HTTPRoute
    let cookies: [Cookie]
    let destination: ContentDestination
    let output: HTTPOutput

    /// Runs the command, and gives up after a time limit.
    ///
    /// - Returns: The cookies at the end.
    @discardableResult
    func run(within limit: Duration?) async throws -> [Cookie] { try await withLimit(limit) { try await run() } }

    /// One attempt to perform the request, and its result.
    private struct Attempt {
        var conversation: HTTPConversation
        var content = HTTPReport.Content()
        var failure: HTTPCommandFailure?
        /// The delay before the next attempt; `nil` if this was the final attempt.
        var wait: Duration?
    }

    private func run() async throws -> [Cookie] {
        var retry = output.retry
        while true {
            let attempt = try await attempt(retry)
            guard let wait = attempt.wait else { return try finish(attempt, retryCount: retry.count) }
            let status = attempt.conversation.records.last?.response?.status ?? 0
            let reason = attempt.failure?.message ?? "the server answered with status \(status)"
            printError("nw: http: \(reason); next attempt in \(Amounts.decimal(wait.inSeconds, places: 0)) s")
            try await Task.sleep(for: wait)
            retry.again()
        }
    }

    private func attempt(_ retry: HTTPRetry) async throws -> Attempt {
        var attempt = Attempt(conversation: makeConversation())
        let retry = start.content.isRepeatable ? retry : HTTPRetry()
        do {
            let (head, feed) = try await attempt.conversation.run()
            attempt.wait = retry.wait(after: head)
            guard attempt.wait == nil else {
                feed.cancel()
                return attempt
            }
            attempt.content = try await deliver(head, feed, of: attempt.conversation.records.last)
        } catch let failure as HTTPCommandFailure {
            attempt.failure = failure
            // If content was already printed, do not retry, because the user has seen this content. If the content goes
            // to a file, a retry is possible, because the file is then written again from its start.
            let isPrinted = failure.code == .partial && destination.path == nil && destination.place != .memory
            attempt.wait = isPrinted ? nil : retry.wait(after: failure)
        }
        attempt.conversation.ended(received: attempt.content.count)
        return attempt
    }

    /// Prints the result of the transfer, and stores it in files, as the command's options require.
    private func finish(_ attempt: Attempt, retryCount: Int) throws -> [Cookie] {
        let (conversation, content, failure) = (attempt.conversation, attempt.content, attempt.failure)
        if output.summary == .json {
            let report = HTTPReport(conversation.records, content, problem: failure)
            printLine(PrintableText(json: report, isIndented: true))
        } else if output.summary == .timeline || output.commentary == .heads {
            for record in conversation.records { printError(record.picture()) }
        }
        try store(conversation.cookies)
        if let path = output.archive {
            let archive = HTTPArchive(conversation.records, content, sent: start.content)
            try store(Data(PrintableText(json: archive, isIndented: true).text.utf8), at: path)
        }
        output.writeOut?.print(
            TransferResult(
                url: start.request.target, records: conversation.records, content: content, failure: failure,
                retryCount: retryCount))
        if let failure { throw failure }
        return conversation.cookies.all
    }

    private func makeConversation() -> HTTPConversation {
        var start = start
        if case .rest(_, let position) = destination.place {
            // Accept no content coding, because a range of encoded content cannot be decoded.
            start.acceptsCodings = false
            start.request.fields.set("Range", "bytes=\(position)-")
        }
        let output = output
        let mayHint = !start.followsRedirects && output.summary != .json
        let content = start.content
        var sending: (@Sendable (ResponseFeed) -> (@Sendable () -> Void)?)?
        if output.isUpload, output.commentary == .progressBar {
            sending = { feed in
                guard let progress = UploadProgress(feed, of: content) else { return nil }
                return { progress.end() }
            }
        }
        let observe: @Sendable (HTTPExchangeRecord) -> Void = { record in
            if output.commentary == .heads { printError(record.heads()) }
            if mayHint { record.hint() }
        }
        return HTTPConversation(start, route, cookies: cookies, observe: observe, sending: sending)
    }

    private func store(_ cookies: CookieStore) throws {
        guard let path = output.cookieJar else { return }
        try store(Data(CookieFile.text(cookies.all).utf8), at: path)
    }

    private func store(_ content: Data, at path: String) throws {
        do {
            let file = try OpenFile(storingAt: path, keeping: nil, followsLinks: true)
            try file.writeAll(content)
        } catch {
            throw HTTPCommandFailure(.write, "cannot write \(path): \(describe(error))")
        }
    }

    // MARK: Content

    /// Writes the final response's content to its destination.
    private func deliver(
        _ head: HTTPResponseHead, _ feed: ResponseFeed, of record: HTTPExchangeRecord?
    ) async throws -> HTTPReport.Content {
        if output.failsForStatus, head.status >= 400 {
            feed.cancel()
            throw HTTPCommandFailure(.status, "the server answered with status \(head.status) \(head.reason)")
        }
        let found: ContentDestination?
        do {
            if let record, let failure = redirectedPage(head, at: record.target) { throw failure }
            found = try place(for: head)
        } catch {
            feed.cancel()
            throw error
        }
        guard let destination = found else {
            feed.cancel()
            return HTTPReport.Content()
        }
        var decoder: ContentDecoder?
        if start.acceptsCodings, record?.request.method != "HEAD", head.status != 206 {
            do throws(DecodingFailure) { decoder = try ContentDecoder.decoder(for: head.fields) } catch {
                throw HTTPCommandFailure(error)
            }
        }
        let sink = try ContentSink(destination, type: head.fields.firstValue(of: "Content-Type"))
        if output.showsHead { try sink.write(head) }
        let progress = progress(head, destination, isEncoded: decoder != nil)
        let receiver = ContentReceiver(sink, decoder, progress, from: origin(destination))
        do {
            try await feed.deliver { piece in try receiver.take(piece) }
            let (count, memory) = try receiver.finish()
            return HTTPReport.Content(
                count: count, data: destination.place == .memory ? memory : nil, file: destination.path)
        } catch {
            feed.cancel()
            receiver.abandon()
            try Task.checkCancellation()
            guard let failure = error as? HTTPFailure else { throw error }
            let origin = record.flatMap { HTTPOrigin($0.target) } ?? HTTPOrigin(isSecure: false, host: "")
            throw HTTPCommandFailure(failure, to: origin, reason: nil)
        }
    }

    /// Returns the failure if a redirect led to a web page although the user requested another kind of content.
    private func redirectedPage(_ head: HTTPResponseHead, at end: URIReference) -> HTTPCommandFailure? {
        let fields = start.request.fields
        return RedirectedPage.failure(
            head, from: start.request.target, to: end,
            accept: fields.firstValue(of: "Accept").flatMap { $0.isEmpty ? nil : $0 }, name: destination.path)
    }

    /// Returns where to write this response's content; `nil` if a continued download is already complete.
    private func place(for head: HTTPResponseHead) throws -> ContentDestination? {
        guard case .rest(let path, let position) = destination.place else { return destination }
        let range = head.fields.firstValue(of: "Content-Range").flatMap { ContentRange(parsing: Array($0.utf8)[...]) }
        switch head.status {
        case 206 where range?.positions?.lowerBound == Int(position): return destination
        // Refuse two kinds of response, because they would damage the file: a range that begins at the wrong byte, and
        // a response with several ranges.
        case 206:
            let sent: PrintableText =
                range?.positions.map { "a part that begins at byte \($0.lowerBound)" } ?? "an unknown part"
            throw HTTPCommandFailure(.noRange, "the server cannot continue at byte \(position): it sent \(sent)")
        case 416 where range?.length == Int(position): return nil
        case 200, 203:
            // The server did not apply the requested range, and sends the whole content.
            var whole = destination
            whole.place = .file(path)
            return whole
        default:
            throw HTTPCommandFailure(.noRange, "the server cannot continue at byte \(position): status \(head.status)")
        }
    }

    private func origin(_ destination: ContentDestination) -> UInt64 {
        if case .rest(_, let position) = destination.place { position } else { 0 }
    }

    private func progress(_ head: HTTPResponseHead, _ destination: ContentDestination, isEncoded: Bool) -> ProgressBar?
    {
        guard output.commentary == .progressBar, let path = destination.path else { return nil }
        let length = isEncoded ? nil : head.fields.firstValue(of: "Content-Length").flatMap { Int(digits: $0) }
        let origin = origin(destination)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return ProgressBar(name, byteCount: length.map { UInt64($0) + origin }, from: origin)
    }
}

/// Runs `body`, and cancels it after a time limit.
///
/// - Throws: An error from `body`; ``HTTPCommandFailure`` after the limit.
func withLimit<Value: Sendable>(
    _ limit: Duration?, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let limit else { return try await body() }
    return try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw HTTPCommandFailure(.timedOut, "timed out after \(Amounts.decimal(limit.inSeconds, places: 3)) s")
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}

extension ContentDestination {
    /// The file's path; `nil` if the content is not written to a file.
    var path: String? {
        switch place {
        case .file(let path), .rest(let path, _): path
        case .automatic, .standardOutput, .memory: nil
        }
    }
}
