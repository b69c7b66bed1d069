/// Scales images.
enum Resampling {
    /// The source pixels along one side that determine one target pixel, and their weights.
    private struct Taps {
        var start: Int
        var weights: [Float]
    }

    /// Returns the largest size that has the bitmap's aspect ratio and fits in `size`.
    static func inside(_ size: PixelSize, _ bitmap: Bitmap, _ enlarges: Bool) -> PixelSize {
        let scale = min(Double(size.width) / Double(bitmap.width), Double(size.height) / Double(bitmap.height))
        guard enlarges || scale < 1 else { return PixelSize(width: bitmap.width, height: bitmap.height) }
        return scaled(bitmap, by: scale)
    }

    static func bounded(_ size: PixelSize, _ bitmap: Bitmap, _ enlarges: Bool) -> PixelSize {
        guard !enlarges else { return size }
        return PixelSize(width: min(size.width, bitmap.width), height: min(size.height, bitmap.height))
    }

    /// Scales to fill a size, and crops the rest.
    static func filled(_ bitmap: Bitmap, _ size: PixelSize, _ enlarges: Bool) -> Bitmap {
        var scale = max(Double(size.width) / Double(bitmap.width), Double(size.height) / Double(bitmap.height))
        if !enlarges { scale = min(scale, 1) }
        // Crop before scaling. Otherwise, if the image is narrow, its long side could exceed all limits after scaling.
        let width = min(bitmap.width, Int((Double(size.width) / scale).rounded(.up)))
        let height = min(bitmap.height, Int((Double(size.height) / scale).rounded(.up)))
        let middle = part(
            bitmap, x: (bitmap.width - width) / 2, y: (bitmap.height - height) / 2, width: width, height: height)
        guard let middle else { return bitmap }
        return scaled(middle, to: bounded(size, middle, enlarges))
    }

    private static func scaled(_ bitmap: Bitmap, by scale: Double) -> PixelSize {
        PixelSize(
            width: max(1, Int((Double(bitmap.width) * scale).rounded())),
            height: max(1, Int((Double(bitmap.height) * scale).rounded())))
    }

    static func part(_ bitmap: Bitmap, x: Int, y: Int, width: Int, height: Int) -> Bitmap? {
        let columns = clamped(x, width, bitmap.width)
        let rows = clamped(y, height, bitmap.height)
        guard !columns.isEmpty, !rows.isEmpty else { return nil }
        guard columns.count < bitmap.width || rows.count < bitmap.height else { return bitmap }
        var pixels: [UInt8] = []
        pixels.reserveCapacity(columns.count * rows.count * 4)
        for row in rows {
            let start = (row * bitmap.width + columns.lowerBound) * 4
            pixels += bitmap.pixels[start..<(start + columns.count * 4)]
        }
        return Bitmap(width: columns.count, height: rows.count, pixels: pixels)
    }

    private static func clamped(_ start: Int, _ count: Int, _ limit: Int) -> Range<Int> {
        let lower = min(max(start, 0), limit)
        let (end, overflows) = start.addingReportingOverflow(max(count, 0))
        return lower..<max(lower, min(overflows ? limit : end, limit))
    }

    // MARK: Scaling

    /// Scales a bitmap. Each colour is weighted by its opacity, so that transparent pixels do not change the colours of
    /// their neighbours.
    static func scaled(_ bitmap: Bitmap, to size: PixelSize) -> Bitmap {
        guard size.width != bitmap.width || size.height != bitmap.height else { return bitmap }
        let columns = taps(from: bitmap.width, to: size.width)
        let rows = taps(from: bitmap.height, to: size.height)
        var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
        // Source rows that are already scaled horizontally. A row stays here as long as target rows need it.
        var ready: [Int: [Float]] = [:]
        for (y, row) in rows.enumerated() {
            var sum = [Float](repeating: 0, count: size.width * 4)
            for (index, weight) in row.weights.enumerated() {
                let source = row.start + index
                let line = ready[source] ?? scaledRow(bitmap, source, columns)
                ready[source] = line
                for place in sum.indices { sum[place] += line[place] * weight }
            }
            store(sum, &pixels, y * size.width * 4)
            let next = y + 1 < rows.count ? rows[y + 1].start : Int.max
            ready = ready.filter { $0.key >= next }
        }
        return Bitmap(width: size.width, height: size.height, pixels: pixels, isOpaque: bitmap.isOpaque)
    }

    private static func scaledRow(_ bitmap: Bitmap, _ row: Int, _ columns: [Taps]) -> [Float] {
        var line = [Float](repeating: 0, count: columns.count * 4)
        let start = row * bitmap.width
        for (x, column) in columns.enumerated() {
            var (red, green, blue, alpha): (Float, Float, Float, Float) = (0, 0, 0, 0)
            for (index, weight) in column.weights.enumerated() {
                let place = (start + column.start + index) * 4
                let opacity = Float(bitmap.pixels[place + 3]) * weight
                red += Float(bitmap.pixels[place]) * opacity
                green += Float(bitmap.pixels[place + 1]) * opacity
                blue += Float(bitmap.pixels[place + 2]) * opacity
                alpha += opacity
            }
            (line[x * 4], line[x * 4 + 1], line[x * 4 + 2], line[x * 4 + 3]) = (red, green, blue, alpha)
        }
        return line
    }

    private static func store(_ sum: [Float], _ pixels: inout [UInt8], _ start: Int) {
        for place in stride(from: 0, to: sum.count, by: 4) {
            let alpha = sum[place + 3]
            guard alpha > 0.001 else { continue }
            for part in 0..<3 { pixels[start + place + part] = byte(sum[place + part] / alpha) }
            pixels[start + place + 3] = byte(alpha)
        }
    }

    static func byte(_ value: Float) -> UInt8 { UInt8(min(max(value, 0), 255) + 0.5) }

    /// Returns the source pixels from which each target pixel is computed. For a smaller image, they are averaged.
    /// Otherwise, they are interpolated.
    private static func taps(from source: Int, to target: Int) -> [Taps] {
        let scale = Double(source) / Double(target)
        let reach = max(scale, 1)
        return (0..<target).map { index in
            let center = (Double(index) + 0.5) * scale
            let first = max(0, Int((center - reach).rounded(.down)))
            let last = min(source - 1, Int((center + reach).rounded(.down)))
            var weights = (first...last).map { Float(max(0, 1 - abs(Double($0) + 0.5 - center) / reach)) }
            let total = weights.reduce(0, +)
            if total > 0 { weights = weights.map { $0 / total } } else { weights[0] = 1 }
            return Taps(start: first, weights: weights)
        }
    }
}
