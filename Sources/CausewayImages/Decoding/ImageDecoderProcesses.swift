public import CausewayImageFormats
internal import CausewaySystem
internal import Foundation

/// Decodes images in processes that can do nothing else.
///
/// JPEG, PNG and WebP are decoded by libjpeg, libpng and libwebp, which are loaded at run time; of a WebP animation, the first picture. The
/// program `causeway-image-decoder` has its memory and processor time limited, and can open no files or sockets, start no processes, and
/// make no system calls but those of an allocator (seccomp). A process that crashes, loops or answers nonsense costs one image. It is
/// replaced after some images, so that an image that took it over reaches few others.
///
/// The program is looked for at the path of the options, then at that of the environment variable `CAUSEWAY_IMAGE_DECODER`, then beside the
/// executable of the running program, where SwiftPM builds it.
public final class ImageDecoderProcesses: ImageDecoding {
    /// The choices of the decoder.
    public struct Options: Hashable, Sendable {
        /// The path of the decoder program; `nil` to look for it.
        public var executable: String?
        /// Arguments before those of the library, for a program that has other uses.
        public var arguments: [String] = []
        /// The number of processes that decode at the same time.
        public var processCount: Int
        /// The number of images after which a process is replaced.
        public var imagesPerProcess = 16
        /// The memory of a process, in MiB.
        public var memoryInMebibytes = 1024
        /// Bounds of each image.
        public var limits = ImageLimits()

        /// Makes the standard choices: a process for each processor, at most 4.
        public init() { processCount = min(System.processorCount, 4) }
    }

    /// A process and the number of images that it may still decode.
    private struct Worker: Sendable {
        var process: WorkerProcess
        var remaining: Int
    }

    /// The choices.
    public let options: Options
    private let gate: PriorityGate
    private let idle = LockedValue<[Worker]>([])

    /// Makes a decoder. Processes are started when they are needed.
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

    /// Ends the processes that wait for work.
    public func releaseMemory() {
        // The processes end when the list is released, after the lock.
        let workers = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        withExtendedLifetime(workers) {}
    }

    private func run(_ job: DecoderJob) async throws -> DecodedImage {
        if let used = idle.withLock({ $0.popLast() }) {
            do { return try await run(job, on: used) } catch let error as ImageError {
                // Earlier images may be to blame, or the system ended the process meanwhile: a fresh process decides.
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
                    // The exchange blocks, and must hold up no thread of Swift's pool.
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
        // The time of one image is measured by this process. The limit of the decoder ends it if this process hangs.
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
