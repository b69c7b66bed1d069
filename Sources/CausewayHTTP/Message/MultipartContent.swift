internal import CausewaySystem
package import FoundationEssentials

/// Why a file cannot be sent as a form part.
package enum MultipartFailure: Error, Equatable, Sendable {
    /// The file does not exist. Perhaps someone removed it after the program had added it to the form.
    case missing(String)
    /// The path leads to a directory, pipe, socket or device.
    case notRegular(String)
    /// The file cannot be opened or read. The code is the system's `errno`.
    case unreadable(String, code: Int32)
    /// The file's size has changed since the file was added to the form's content.
    case changed(String)
    /// The form is longer than 2^63 - 1 bytes.
    case tooLong

    fileprivate init(_ path: String, errno code: Int32) {
        self = code == ENOENT || code == ENOTDIR ? .missing(path) : .unreadable(path, code: code)
    }
}

extension MultipartFailure: CustomStringConvertible {
    /// The failure as text.
    package var description: String {
        switch self {
        case .missing(let path): "\(path) does not exist"
        case .notRegular(let path): "\(path) is not a regular file"
        case .unreadable(let path, let code): "cannot read \(path): \(String(cString: strerror(code)))"
        case .changed(let path): "\(path) changed its size while it was being sent"
        case .tooLong: "the form is too long"
        }
    }
}

/// A multipart form's content: bytes, and files that are read while they are sent.
///
/// The length must be known before the first byte is sent, so it is calculated from the file sizes when the files were
/// appended.
package struct MultipartContent: Sendable {
    /// A piece of the content. The pieces are sent in their order.
    package enum Piece: Sendable {
        case bytes(Data)
        /// A file, and its size in bytes when it was appended.
        case file(path: String, count: Int64)

        fileprivate var count: Int64 {
            switch self {
            case .bytes(let data): Int64(data.count)
            case .file(_, let count): count
            }
        }
    }

    package private(set) var pieces: [Piece] = []
    /// The length in bytes.
    package private(set) var count: Int64 = 0

    package init() {}

    /// Appends bytes.
    ///
    /// - Throws: ``MultipartFailure/tooLong``.
    package mutating func append(_ bytes: some Collection<UInt8>) throws(MultipartFailure) {
        try add(Int64(bytes.count))
        if case .bytes(var data)? = pieces.last {
            pieces.removeLast()
            data.append(contentsOf: bytes)
            pieces.append(.bytes(data))
        } else {
            pieces.append(.bytes(Data(bytes)))
        }
    }

    /// Appends a regular file's content. The call blocks while it opens the file and reads its size.
    package mutating func append(file path: String) throws(MultipartFailure) {
        let file = try FormFile(path)
        let count = try file.count()
        try add(count)
        pieces.append(.file(path: path, count: count))
    }

    private mutating func add(_ more: Int64) throws(MultipartFailure) {
        let (sum, overflows) = count.addingReportingOverflow(more)
        guard !overflows else { throw .tooLong }
        count = sum
    }
}

/// Reads a form's content in chunks. Reading blocks. Use a reader from one thread at a time.
package final class MultipartReader: Sendable {
    private struct Place {
        var index = 0
        /// The offset of the next byte in the current piece of the form (bytes or a file).
        var offset: Int64
        var file: FormFile?
    }

    private let pieces: [MultipartContent.Piece]
    private let place: LockedValue<Place>

    /// - Parameters:
    ///   - content: The form.
    ///   - offset: The number of bytes to skip.
    package init(_ content: MultipartContent, from offset: Int64 = 0) {
        pieces = content.pieces
        var place = Place(offset: max(0, offset))
        while place.index < pieces.count, place.offset >= pieces[place.index].count {
            place.offset -= pieces[place.index].count
            place.index += 1
        }
        self.place = LockedValue(place)
    }

    /// Reads the next bytes, at most `limit`. Returns `nil` at the end.
    package func read(atMost limit: Int) throws(MultipartFailure) -> Data? {
        var place = place.withLock { $0 }
        defer { self.place.withLock { [place] in $0 = place } }
        while place.index < pieces.count {
            let data: Data
            switch pieces[place.index] {
            case .bytes(let bytes): data = bytes.dropFirst(Int(place.offset)).prefix(limit)
            case .file(let path, let count): data = try Self.read(path, count, &place, limit)
            }
            place.offset += Int64(data.count)
            if place.offset >= pieces[place.index].count { place = Place(index: place.index + 1, offset: 0) }
            if !data.isEmpty { return data }
        }
        return nil
    }

    private static func read(
        _ path: String, _ count: Int64, _ place: inout Place, _ limit: Int
    ) throws(MultipartFailure) -> Data {
        let file: FormFile
        if let open = place.file { file = open } else { file = try FormFile(path) }
        place.file = file
        // Check the file's size. Otherwise a file that has grown would be truncated silently.
        guard try file.count() == count else { throw .changed(path) }
        let wanted = Int(min(Int64(limit), count - place.offset))
        let data = try file.read(wanted, at: place.offset)
        guard data.count > 0 || wanted == 0 else { throw .changed(path) }
        return data
    }

    /// Closes the open file.
    package func close() { place.withLock { $0.file = nil } }
}

/// An open regular file.
private final class FormFile: Sendable {
    private let path: String
    private let descriptor: Int32

    init(_ path: String) throws(MultipartFailure) {
        // Without O_NONBLOCK, opening a named pipe would wait for a writer.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        self.path = path
        guard descriptor >= 0 else { throw MultipartFailure(path, errno: errno) }
    }

    deinit { if descriptor >= 0 { _ = closeFile(descriptor) } }

    /// Returns the size in bytes.
    func count() throws(MultipartFailure) -> Int64 {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw MultipartFailure(path, errno: errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path) }
        return Int64(facts.st_size)
    }

    /// Reads at most `count` bytes at a position. Returns fewer at the end of the file.
    func read(_ count: Int, at position: Int64) throws(MultipartFailure) -> Data {
        var data = Data(count: count)
        let result = data.withUnsafeMutableBytes { buffer -> Int in
            while true {
                let result = pread(descriptor, buffer.baseAddress, buffer.count, off_t(position))
                if result >= 0 || errno != EINTR { return result }
            }
        }
        guard result >= 0 else { throw MultipartFailure(path, errno: errno) }
        return result == count ? data : data.prefix(result)
    }
}

/// Calls close(2). Inside a type with a method `close`, the global function's name is hidden.
private func closeFile(_ descriptor: Int32) -> Int32 { close(descriptor) }
