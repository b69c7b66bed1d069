internal import Foundation

/// Maps file name extensions to media types.
enum FileMediaType {
    private static let types: [String: String] = [
        "aac": "audio/aac", "avi": "video/x-msvideo", "avif": "image/avif",
        "bmp": "image/bmp", "bz2": "application/x-bzip2", "css": "text/css", "csv": "text/csv",
        "doc": "application/msword", "epub": "application/epub+zip", "flac": "audio/flac", "gif": "image/gif",
        "gz": "application/gzip", "heic": "image/heic", "htm": "text/html", "html": "text/html",
        "ico": "image/vnd.microsoft.icon", "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "js": "text/javascript", "json": "application/json", "jsonld": "application/ld+json", "m4a": "audio/mp4",
        "m4v": "video/mp4", "md": "text/markdown", "mid": "audio/midi", "mjs": "text/javascript",
        "mov": "video/quicktime",
        "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg", "ogg": "audio/ogg",
        "ogv": "video/ogg", "opus": "audio/opus", "otf": "font/otf", "pdf": "application/pdf",
        "plist": "application/x-plist",
        "png": "image/png", "ps": "application/postscript", "rss": "application/rss+xml", "rtf": "application/rtf",
        "sh": "application/x-sh", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff",
        "tiff": "image/tiff", "ttf": "font/ttf", "txt": "text/plain", "vcf": "text/vcard", "wasm": "application/wasm",
        "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp", "woff": "font/woff", "woff2": "font/woff2",
        "xhtml": "application/xhtml+xml", "xml": "application/xml", "xz": "application/x-xz",
        "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
    ]

    /// Returns a file's media type, or `nil` for an unknown extension.
    static func of(_ url: URL) -> String? { types[url.pathExtension.lowercased()] }
}
