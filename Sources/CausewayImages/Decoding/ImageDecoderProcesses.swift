public import CausewayImageFormats
internal import CausewaySystem
internal import Foundation

/// Decodes images in sandboxed processes.
///
/// libjpeg, libpng and libwebp, which are loaded at run time, decode JPEG, PNG and WebP (only the first frame of an
/// animation). The program `causeway-image-decoder` runs with limited memory and processor time. Seccomp prevents it
/// from opening files or sockets and from starting processes, and permits only the system calls of an allocator. A
/// process that crashes, loops or sends invalid replies loses only one image. Each process is replaced after some
/// images, so that an image that takes control of a process can affect few other images.
///
/// Searches for the program at the path in the options, then at the path in the environment variable
/// `CAUSEWAY_IMAGE_DECODER`, then beside the running executable, where SwiftPM builds it.
public final class ImageDecoderProcesses: ImageDecoding {
    /// Decoder options.
    public struct Options: Hashable, Sendable {
        /// The decoder program's path; `nil` to search for it.
        public var executable: String?
        /// Arguments to pass before the library's own arguments, for a decoder program that also has other functions.
        public var arguments: [String] = []
        /// The maximum number of concurrent decoder processes.
        public var processCount: Int
        /// The number of images after which a process is replaced.
        public var imagesPerProcess = 16
        /// A process's memory limit in MiB.
        public var memoryInMebibytes = 1024
        /// Limits for each image.
        public var limits = ImageLimits()

        /// Creates the default options: one process per processor, at most 4.
        public init() { processCount = min(System.processorCount, 4) }
    }

    /// A decoder process, and the number of images that it may decode before it is replaced.
    private struct Worker: Sendable {
        var process: WorkerProcess
        var remaining: Int
    }

    /// The options.
    public let options: Options
    private let gate: PriorityGate
    private let idle = LockedValue<[Worker]>([])

    /// Creates a decoder, which starts processes on demand.
    public init(options: Options = Options()) {
        self.options = options
        gate = PriorityGate(limit: options.processCount)
    }

    /// Decodes an image. See ``ImageDecoding/decode(_:_:)``.
    ///
    /// Cancellation: ends the process and throws `CancellationError`.
    public func decode(_ bytes: [UInt8], _ hints: ImageDecodingHints) async throws -> DecodedImage {
        let job = try DecoderJob(bytes, hints, options.limits)
        return try await gate.run(PriorityCell(hints.priority)) { try await run(job) }
    }

    /// Ends idle processes.
    public func releaseMemory() {
        // Release `workers` outside the lock, because the release ends the processes and waits until they have ended.
        let workers = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        withExtendedLifetime(workers) {}
    }

    private func run(_ job: DecoderJob) async throws -> DecodedImage {
        if let used = idle.withLock({ $0.popLast() }) {
            do { return try await run(job, on: used) } catch let error as ImageError {
                // An earlier image may have damaged the process, or the system may have killed it, so try again in a
                // new process.
                guard error.code == .decoderCrashed else { throw error }
            }
        }
        return try await run(job, on: try start())
    }

    private func run(_ job: DecoderJob, on worker: Worker) async throws -> DecodedImage {
        let process = worker.process
        let image: Result<DecodedImage, ImageError> = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                do {
                    // The exchange with the decoder blocks a thread. So use a separate thread, and not Swift's thread
                    // pool.
                    try System.startThread(named: "image-decoder") {
                        continuation.resume(returning: job.exchange(with: process))
                    }
                } catch {
                    continuation.resume(throwing: ImageError(.decoderMissing, "no thread for the image decoder"))
                }
            }
        } onCancel: {
            process.kill()
        }
        try Task.checkCancellation()
        if job.isReusable(after: image), worker.remaining > 1 {
            idle.withLock { $0.append(Worker(process: process, remaining: worker.remaining - 1)) }
        }
        return try image.get()
    }

    private func start() throws -> Worker {
        let path = try DecoderProgram.path(options.executable)
        // This process limits the time per image. The decoder process also limits its total time, in case this process
        // hangs.
        let seconds = Int(options.limits.decodingTime.components.seconds + 1) * max(options.imagesPerProcess, 1)
        let arguments = options.arguments + ["\(max(options.memoryInMebibytes, 16))", "\(seconds)"]
        do {
            let process = try WorkerProcess(path, arguments: arguments)
            return Worker(process: process, remaining: max(options.imagesPerProcess, 1))
        } catch {
            throw ImageError(.decoderMissing, "cannot start the image decoder \(path): \(error)")
        }
    }
}

/// Finds the decoder program.
enum DecoderProgram {
    static let name = "causeway-image-decoder"
    static let variable = "CAUSEWAY_IMAGE_DECODER"

    static func path(
        _ setting: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> String {
        if let path = setting ?? environment[variable] {
            guard FileManager.default.isExecutableFile(atPath: path) else {
                throw ImageError(.decoderMissing, "the image decoder \(path) is missing or not executable")
            }
            return path
        }
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let path = URL(fileURLWithPath: program).deletingLastPathComponent().appendingPathComponent(name).path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw ImageError(
                .decoderMissing,
                "the image decoder is missing: put \(name) beside the program, or set \(variable) to its path")
        }
        return path
    }
}
