import ArgumentParser
import CausewayTypes
import Synchronization

/// The downloads in one run of `nw download`. The number of concurrent downloads is limited.
struct DownloadRun: Sendable {
    let downloads: [Download]
    let parallel: Int
    /// The time limit for each download.
    let limit: Duration?
    let isJSON: Bool
    let isQuiet: Bool

    /// Runs all downloads.
    ///
    /// - Throws: The first failure's exit code, after all downloads; `CancellationError`.
    func callAsFunction() async throws {
        let failure = try await withThrowingTaskGroup(of: ExitCode?.self) { group in
            var first: ExitCode?
            for (index, download) in downloads.enumerated() {
                if index >= parallel, let ended = try await group.next() { first = first ?? ended }
                group.addTask { try await run(download) }
            }
            for try await ended in group { first = first ?? ended }
            return first
        }
        if let failure { throw failure }
    }

    /// The JSON object for one file.
    private struct Outcome: Encodable {
        var event: String
        var url: String
        var file: String?
        var bytes: Int?
        /// The number of bytes stored by an earlier run.
        var kept: Int?
        var sha256: String?
        var seconds: Double?
        var reason: String?
    }

    /// Runs one download and prints its outcome. Returns a failure's exit code.
    private func run(_ download: Download) async throws -> ExitCode? {
        let start = ContinuousClock.now
        do {
            let stored = try await withLimit(limit) { try await download.run() }
            let time = ContinuousClock.now - start
            download.progress.endedFile()
            let file = PrintableText(foreign: stored.file)
            let size = Amounts.bytes(UInt64(stored.byteCount))
            let rate = Amounts.rate(UInt64(max(0, stored.byteCount - stored.kept)), over: time)
            let outcome = Outcome(
                event: "stored", url: download.url, file: stored.file, bytes: stored.byteCount, kept: stored.kept,
                sha256: stored.checksum?.text, seconds: time.inSeconds)
            if isJSON {
                printLine(PrintableText(json: outcome))
            } else if !isQuiet {
                printLine("\(file) \(size) \(rate)")
            }
            return nil
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            download.progress.endedFile()
            let reason = (error as? HTTPCommandFailure)?.message ?? describe(error)
            printError("nw: download: \(PrintableText(foreign: download.url)): \(reason)")
            if isJSON {
                printLine(PrintableText(json: Outcome(event: "failed", url: download.url, reason: reason.text)))
            }
            return (error as? HTTPCommandFailure).map { ExitCode($0.code.rawValue) } ?? .failure
        }
    }
}
