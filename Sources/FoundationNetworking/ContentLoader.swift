internal import CausewayURLLoading
public import Foundation

/// Loads the content of `http` and other non-file URLs, on behalf of `NSData(contentsOf:)`, `NSString(contentsOf:)` and
/// `XMLParser(contentsOf:)`.
///
/// Foundation looks up this type at run time, by the name of its module and its own name. Programs do not use it.
public final class _NSNonfileURLContentLoader: _NSNonfileURLContentLoading {
    /// Creates a loader.
    public init() {}

    /// Loads the content of a URL, and blocks the thread until it is loaded. Returns the content and the name of its
    /// text encoding, if known.
    public func contentsOf(url: URL) throws -> (result: NSData, textEncodingNameIfAvailable: String?) {
        let content = try RemoteContent.load(url)
        return (NSData(data: content.data), content.textEncodingName)
    }
}
