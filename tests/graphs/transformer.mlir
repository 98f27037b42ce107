module @IrToHlo.751 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<8x50xi64>, %arg1: tensor<1000xf32>, %arg2: tensor<1000x96xf32>, %arg3: tensor<96xf32>, %arg4: tensor<96xf32>, %arg5: tensor<96x200xf32>, %arg6: tensor<200xf32>, %arg7: tensor<200x96xf32>, %arg8: tensor<96xf32>, %arg9: tensor<96xf32>, %arg10: tensor<96x96xf32>, %arg11: tensor<288xf32>, %arg12: tensor<288x96xf32>, %arg13: tensor<1000x96xf32>, %arg14: tensor<f32>, %arg15: tensor<96xf32>, %arg16: tensor<96xf32>, %arg17: tensor<f32>, %arg18: tensor<i64>) -> (tensor<f32>, tensor<1000x96xf32>, tensor<288x96xf32>, tensor<288xf32>, tensor<96x96xf32>, tensor<96xf32>, tensor<200x96xf32>, tensor<200xf32>, tensor<96x200xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<1000x96xf32>, tensor<1000xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<400x96xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<3x50x8x96xbf16>
    %c = stablehlo.constant dense<-1> : tensor<400xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<400xi64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<1000x96xf32>
    %c_3 = stablehlo.constant dense<-100> : tensor<400xi64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<400x1000xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<400x1000xf32>
    %cst_6 = stablehlo.constant dense<9.99999974E-6> : tensor<400xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<8x50x200xbf16>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<400xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<400xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<8x4x50x50xf32>
    %cst_11 = stablehlo.constant dense<0xFF80> : tensor<8x4x50x50xbf16>
    %c_12 = stablehlo.constant dense<2> : tensor<i64>
    %c_13 = stablehlo.constant dense<0> : tensor<i64>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %c_15 = stablehlo.constant dense<1> : tensor<i64>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_17 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c_18 = stablehlo.constant dense<false> : tensor<i1>
    %c_19 = stablehlo.constant dense<true> : tensor<i1>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %arg15, dims = [2] : (tensor<96xf32>) -> tensor<8x50x96xf32>
    %1 = stablehlo.reshape %arg0 : (tensor<8x50xi64>) -> tensor<400xi64>
    %2 = stablehlo.convert %1 : (tensor<400xi64>) -> tensor<400xui32>
    %3 = "stablehlo.gather"(%arg13, %2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 96>}> : (tensor<1000x96xf32>, tensor<400xui32>) -> tensor<400x96xf32>
    %4 = stablehlo.reshape %3 : (tensor<400x96xf32>) -> tensor<8x50x96xf32>
    %5 = stablehlo.transpose %4, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[50,8,96]{2,0,1}"} : (tensor<8x50x96xf32>) -> tensor<50x8x96xf32>
    %6 = stablehlo.convert %5 {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "bf16[50,8,96]{2,0,1}"} : (tensor<50x8x96xf32>) -> tensor<50x8x96xbf16>
    %7 = stablehlo.reshape %6 : (tensor<50x8x96xbf16>) -> tensor<400x96xbf16>
    %8 = stablehlo.convert %arg12 : (tensor<288x96xf32>) -> tensor<288x96xbf16>
    %9 = stablehlo.transpose %8, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[96,288]{0,1}"} : (tensor<288x96xbf16>) -> tensor<96x288xbf16>
    %10 = stablehlo.dot_general %7, %9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<400x96xbf16>, tensor<96x288xbf16>) -> tensor<400x288xbf16>
    %11 = stablehlo.reshape %10 : (tensor<400x288xbf16>) -> tensor<50x8x288xbf16>
    %12 = stablehlo.convert %arg11 : (tensor<288xf32>) -> tensor<288xbf16>
    %13 = stablehlo.broadcast_in_dim %12, dims = [2] : (tensor<288xbf16>) -> tensor<50x8x288xbf16>
    %14 = stablehlo.add %11, %13 : tensor<50x8x288xbf16>
    %15 = stablehlo.reshape %14 : (tensor<50x8x288xbf16>) -> tensor<1x50x8x3x96xbf16>
    %16 = stablehlo.transpose %15, dims = [3, 1, 2, 0, 4] {result_layout = dense<[4, 0, 2, 1, 3]> : tensor<5xindex>, xla_shape = "bf16[3,50,8,1,96]{4,0,2,1,3}"} : (tensor<1x50x8x3x96xbf16>) -> tensor<3x50x8x1x96xbf16>
    %17 = stablehlo.reshape %16 : (tensor<3x50x8x1x96xbf16>) -> tensor<3x50x8x96xbf16>
    %18 = stablehlo.slice %17 [0:1, 0:50, 0:8, 0:96] : (tensor<3x50x8x96xbf16>) -> tensor<1x50x8x96xbf16>
    %19 = stablehlo.reshape %18 : (tensor<1x50x8x96xbf16>) -> tensor<50x32x24xbf16>
    %20 = stablehlo.transpose %19, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "bf16[32,50,24]{2,0,1}"} : (tensor<50x32x24xbf16>) -> tensor<32x50x24xbf16>
    %21 = stablehlo.reshape %20 : (tensor<32x50x24xbf16>) -> tensor<8x4x50x24xbf16>
    %22 = stablehlo.convert %21 : (tensor<8x4x50x24xbf16>) -> tensor<8x4x50x24xf32>
    %23 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<8x4x50x24xf32>
    %24 = stablehlo.multiply %22, %23 : tensor<8x4x50x24xf32>
    %25 = stablehlo.convert %24 : (tensor<8x4x50x24xf32>) -> tensor<8x4x50x24xbf16>
    %26 = stablehlo.reshape %25 : (tensor<8x4x50x24xbf16>) -> tensor<32x50x24xbf16>
    %27 = stablehlo.slice %17 [1:2, 0:50, 0:8, 0:96] : (tensor<3x50x8x96xbf16>) -> tensor<1x50x8x96xbf16>
    %28 = stablehlo.reshape %27 : (tensor<1x50x8x96xbf16>) -> tensor<50x32x24xbf16>
    %29 = stablehlo.transpose %28, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "bf16[32,50,24]{2,0,1}"} : (tensor<50x32x24xbf16>) -> tensor<32x50x24xbf16>
    %30 = stablehlo.reshape %29 : (tensor<32x50x24xbf16>) -> tensor<8x4x50x24xbf16>
    %31 = stablehlo.convert %30 : (tensor<8x4x50x24xbf16>) -> tensor<8x4x50x24xf32>
    %32 = stablehlo.transpose %31, dims = [0, 1, 3, 2] {result_layout = dense<[2, 3, 1, 0]> : tensor<4xindex>, xla_shape = "f32[8,4,24,50]{2,3,1,0}"} : (tensor<8x4x50x24xf32>) -> tensor<8x4x24x50xf32>
    %33 = stablehlo.broadcast_in_dim %arg14, dims = [] : (tensor<f32>) -> tensor<8x4x24x50xf32>
    %34 = stablehlo.multiply %32, %33 : tensor<8x4x24x50xf32>
    %35 = stablehlo.convert %34 : (tensor<8x4x24x50xf32>) -> tensor<8x4x24x50xbf16>
    %36 = stablehlo.reshape %35 : (tensor<8x4x24x50xbf16>) -> tensor<32x24x50xbf16>
    %37 = stablehlo.dot_general %26, %36, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x50x24xbf16>, tensor<32x24x50xbf16>) -> tensor<32x50x50xbf16>
    %38 = stablehlo.reshape %37 : (tensor<32x50x50xbf16>) -> tensor<8x4x50x50xbf16>
    %39 = stablehlo.compare  EQ, %38, %cst_11 : (tensor<8x4x50x50xbf16>, tensor<8x4x50x50xbf16>) -> tensor<8x4x50x50xi1>
    %40 = stablehlo.reduce(%39 init: %c_19) across dimensions = [3] : (tensor<8x4x50x50xi1>, tensor<i1>) -> tensor<8x4x50xi1>
     reducer(%arg19: tensor<i1>, %arg20: tensor<i1>)  {
      %319 = stablehlo.and %arg19, %arg20 : tensor<i1>
      %320 = stablehlo.select %319, %c_19, %c_18 : tensor<i1>, tensor<i1>
      stablehlo.return %320 : tensor<i1>
    }
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2] : (tensor<8x4x50xi1>) -> tensor<8x4x50x50xi1>
    %42 = stablehlo.convert %38 : (tensor<8x4x50x50xbf16>) -> tensor<8x4x50x50xf32>
    %43 = stablehlo.reduce(%42 init: %cst_17) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x50x50xf32>, tensor<f32>) -> tensor<8x4x50xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<8x4x50xf32>) -> tensor<8x4x50x50xf32>
    %45 = stablehlo.subtract %42, %44 : tensor<8x4x50x50xf32>
    %46 = stablehlo.exponential %45 : tensor<8x4x50x50xf32>
    %47 = stablehlo.reduce(%46 init: %cst_20) applies stablehlo.add across dimensions = [3] : (tensor<8x4x50x50xf32>, tensor<f32>) -> tensor<8x4x50xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<8x4x50xf32>) -> tensor<8x4x50x50xf32>
    %49 = stablehlo.divide %46, %48 : tensor<8x4x50x50xf32>
    %50 = stablehlo.select %41, %cst_10, %49 : tensor<8x4x50x50xi1>, tensor<8x4x50x50xf32>
    %51 = stablehlo.convert %50 : (tensor<8x4x50x50xf32>) -> tensor<8x4x50x50xbf16>
    %52 = stablehlo.reshape %51 : (tensor<8x4x50x50xbf16>) -> tensor<32x50x50xbf16>
    %53 = stablehlo.slice %17 [2:3, 0:50, 0:8, 0:96] : (tensor<3x50x8x96xbf16>) -> tensor<1x50x8x96xbf16>
    %54 = stablehlo.reshape %53 : (tensor<1x50x8x96xbf16>) -> tensor<50x32x24xbf16>
    %55 = stablehlo.transpose %54, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "bf16[32,50,24]{2,0,1}"} : (tensor<50x32x24xbf16>) -> tensor<32x50x24xbf16>
    %56 = stablehlo.dot_general %52, %55, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x50x50xbf16>, tensor<32x50x24xbf16>) -> tensor<32x50x24xbf16>
    %57 = stablehlo.reshape %56 : (tensor<32x50x24xbf16>) -> tensor<8x4x50x24xbf16>
    %58 = stablehlo.transpose %57, dims = [2, 0, 1, 3] {result_layout = dense<[3, 0, 2, 1]> : tensor<4xindex>, xla_shape = "bf16[50,8,4,24]{3,0,2,1}"} : (tensor<8x4x50x24xbf16>) -> tensor<50x8x4x24xbf16>
    %59 = stablehlo.reshape %58 : (tensor<50x8x4x24xbf16>) -> tensor<400x96xbf16>
    %60 = stablehlo.convert %arg10 : (tensor<96x96xf32>) -> tensor<96x96xbf16>
    %61 = stablehlo.transpose %60, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[96,96]{0,1}"} : (tensor<96x96xbf16>) -> tensor<96x96xbf16>
    %62 = stablehlo.dot_general %59, %61, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<400x96xbf16>, tensor<96x96xbf16>) -> tensor<400x96xbf16>
    %63 = stablehlo.convert %arg9 : (tensor<96xf32>) -> tensor<96xbf16>
    %64 = stablehlo.broadcast_in_dim %63, dims = [1] : (tensor<96xbf16>) -> tensor<400x96xbf16>
    %65 = stablehlo.add %62, %64 : tensor<400x96xbf16>
    %66 = stablehlo.reshape %65 : (tensor<400x96xbf16>) -> tensor<50x8x96xbf16>
    %67 = stablehlo.transpose %66, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "bf16[8,50,96]{2,0,1}"} : (tensor<50x8x96xbf16>) -> tensor<8x50x96xbf16>
    %68 = stablehlo.convert %67 {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[8,50,96]{2,0,1}"} : (tensor<8x50x96xbf16>) -> tensor<8x50x96xf32>
    %69 = stablehlo.add %4, %68 : tensor<8x50x96xf32>
    %70 = stablehlo.reshape %69 : (tensor<8x50x96xf32>) -> tensor<1x400x96xf32>
    %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%70, %cst_9, %cst_8) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<1x400x96xf32>, tensor<400xf32>, tensor<400xf32>) -> (tensor<1x400x96xf32>, tensor<400xf32>, tensor<400xf32>)
    %71 = stablehlo.reshape %output : (tensor<1x400x96xf32>) -> tensor<8x50x96xf32>
    %72 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<96xf32>) -> tensor<8x50x96xf32>
    %73 = stablehlo.multiply %71, %72 : tensor<8x50x96xf32>
    %74 = stablehlo.add %0, %73 : tensor<8x50x96xf32>
    %75 = stablehlo.convert %74 : (tensor<8x50x96xf32>) -> tensor<8x50x96xbf16>
    %76 = stablehlo.reshape %75 : (tensor<8x50x96xbf16>) -> tensor<400x96xbf16>
    %77 = stablehlo.convert %arg7 : (tensor<200x96xf32>) -> tensor<200x96xbf16>
    %78 = stablehlo.transpose %77, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[96,200]{0,1}"} : (tensor<200x96xbf16>) -> tensor<96x200xbf16>
    %79 = stablehlo.dot_general %76, %78, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<400x96xbf16>, tensor<96x200xbf16>) -> tensor<400x200xbf16>
    %80 = stablehlo.reshape %79 : (tensor<400x200xbf16>) -> tensor<8x50x200xbf16>
    %81 = stablehlo.convert %arg6 : (tensor<200xf32>) -> tensor<200xbf16>
    %82 = stablehlo.broadcast_in_dim %81, dims = [2] : (tensor<200xbf16>) -> tensor<8x50x200xbf16>
    %83 = stablehlo.add %80, %82 : tensor<8x50x200xbf16>
    %84 = stablehlo.maximum %83, %cst_7 : tensor<8x50x200xbf16>
    %85 = stablehlo.reshape %84 : (tensor<8x50x200xbf16>) -> tensor<400x200xbf16>
    %86 = stablehlo.convert %arg5 : (tensor<96x200xf32>) -> tensor<96x200xbf16>
    %87 = stablehlo.transpose %86, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[200,96]{0,1}"} : (tensor<96x200xbf16>) -> tensor<200x96xbf16>
    %88 = stablehlo.dot_general %85, %87, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<400x200xbf16>, tensor<200x96xbf16>) -> tensor<400x96xbf16>
    %89 = stablehlo.reshape %88 : (tensor<400x96xbf16>) -> tensor<8x50x96xbf16>
    %90 = stablehlo.convert %arg4 : (tensor<96xf32>) -> tensor<96xbf16>
    %91 = stablehlo.broadcast_in_dim %90, dims = [2] : (tensor<96xbf16>) -> tensor<8x50x96xbf16>
    %92 = stablehlo.add %89, %91 : tensor<8x50x96xbf16>
    %93 = stablehlo.convert %92 : (tensor<8x50x96xbf16>) -> tensor<8x50x96xf32>
    %94 = stablehlo.add %74, %93 : tensor<8x50x96xf32>
    %95 = stablehlo.reshape %94 : (tensor<8x50x96xf32>) -> tensor<1x400x96xf32>
    %output_21, %batch_mean_22, %batch_var_23 = "stablehlo.batch_norm_training"(%95, %cst_9, %cst_8) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<1x400x96xf32>, tensor<400xf32>, tensor<400xf32>) -> (tensor<1x400x96xf32>, tensor<400xf32>, tensor<400xf32>)
    %96 = stablehlo.add %batch_var_23, %cst_6 : tensor<400xf32>
    %97 = stablehlo.rsqrt %96 : tensor<400xf32>
    %98 = stablehlo.divide %cst_9, %97 : tensor<400xf32>
    %99 = stablehlo.multiply %98, %98 : tensor<400xf32>
    %100 = stablehlo.subtract %99, %cst_6 : tensor<400xf32>
    %101 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<400xi64>) -> tensor<400x1000xi64>
    %102 = stablehlo.iota dim = 0 : tensor<1000xi64>
    %103 = stablehlo.broadcast_in_dim %102, dims = [1] : (tensor<1000xi64>) -> tensor<400x1000xi64>
    %104 = stablehlo.compare  EQ, %101, %103 : (tensor<400x1000xi64>, tensor<400x1000xi64>) -> tensor<400x1000xi1>
    %105 = stablehlo.select %104, %cst_5, %cst_4 : tensor<400x1000xi1>, tensor<400x1000xf32>
    %106 = stablehlo.negate %105 : tensor<400x1000xf32>
    %107 = stablehlo.compare  NE, %1, %c_3 : (tensor<400xi64>, tensor<400xi64>) -> tensor<400xi1>
    %108 = stablehlo.broadcast_in_dim %107, dims = [0] : (tensor<400xi1>) -> tensor<400x1000xi1>
    %109 = stablehlo.select %108, %cst_5, %cst_4 : tensor<400x1000xi1>, tensor<400x1000xf32>
    %110 = stablehlo.multiply %109, %105 : tensor<400x1000xf32>
    %111 = stablehlo.multiply %106, %110 : tensor<400x1000xf32>
    %112 = stablehlo.reduce(%110 init: %cst_20) applies stablehlo.add across dimensions = [0, 1] : (tensor<400x1000xf32>, tensor<f32>) -> tensor<f32>
    %113 = stablehlo.compare  NE, %112, %cst_20 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %114 = stablehlo.select %113, %112, %cst_16 : tensor<i1>, tensor<f32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [] : (tensor<f32>) -> tensor<400x1000xf32>
    %116 = stablehlo.divide %111, %115 : tensor<400x1000xf32>
    %117 = stablehlo.broadcast_in_dim %arg16, dims = [2] : (tensor<96xf32>) -> tensor<8x50x96xf32>
    %118 = stablehlo.reshape %output_21 : (tensor<1x400x96xf32>) -> tensor<8x50x96xf32>
    %119 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<96xf32>) -> tensor<8x50x96xf32>
    %120 = stablehlo.multiply %118, %119 : tensor<8x50x96xf32>
    %121 = stablehlo.add %117, %120 : tensor<8x50x96xf32>
    %122 = stablehlo.convert %121 : (tensor<8x50x96xf32>) -> tensor<8x50x96xbf16>
    %123 = stablehlo.reshape %122 : (tensor<8x50x96xbf16>) -> tensor<400x96xbf16>
    %124 = stablehlo.convert %arg2 : (tensor<1000x96xf32>) -> tensor<1000x96xbf16>
    %125 = stablehlo.transpose %124, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[96,1000]{0,1}"} : (tensor<1000x96xbf16>) -> tensor<96x1000xbf16>
    %126 = stablehlo.dot_general %123, %125, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<400x96xbf16>, tensor<96x1000xbf16>) -> tensor<400x1000xbf16>
    %127 = stablehlo.reshape %126 : (tensor<400x1000xbf16>) -> tensor<8x50x1000xbf16>
    %128 = stablehlo.convert %arg1 : (tensor<1000xf32>) -> tensor<1000xbf16>
    %129 = stablehlo.broadcast_in_dim %128, dims = [2] : (tensor<1000xbf16>) -> tensor<8x50x1000xbf16>
    %130 = stablehlo.add %127, %129 : tensor<8x50x1000xbf16>
    %131 = stablehlo.reshape %130 : (tensor<8x50x1000xbf16>) -> tensor<400x1000xbf16>
    %132 = stablehlo.convert %131 : (tensor<400x1000xbf16>) -> tensor<400x1000xf32>
    %133 = stablehlo.reduce(%132 init: %cst_17) applies stablehlo.maximum across dimensions = [1] : (tensor<400x1000xf32>, tensor<f32>) -> tensor<400xf32>
    %134 = stablehlo.broadcast_in_dim %133, dims = [0] : (tensor<400xf32>) -> tensor<400x1000xf32>
    %135 = stablehlo.subtract %132, %134 : tensor<400x1000xf32>
    %136 = stablehlo.exponential %135 : tensor<400x1000xf32>
    %137 = stablehlo.reduce(%136 init: %cst_20) applies stablehlo.add across dimensions = [1] : (tensor<400x1000xf32>, tensor<f32>) -> tensor<400xf32>
    %138 = stablehlo.log %137 : tensor<400xf32>
    %139 = stablehlo.broadcast_in_dim %138, dims = [0] : (tensor<400xf32>) -> tensor<400x1000xf32>
    %140 = stablehlo.subtract %135, %139 : tensor<400x1000xf32>
    %141 = stablehlo.exponential %140 : tensor<400x1000xf32>
    %142 = stablehlo.reduce(%116 init: %cst_20) applies stablehlo.add across dimensions = [1] : (tensor<400x1000xf32>, tensor<f32>) -> tensor<400xf32>
    %143 = stablehlo.broadcast_in_dim %142, dims = [0] : (tensor<400xf32>) -> tensor<400x1000xf32>
    %144 = stablehlo.multiply %141, %143 : tensor<400x1000xf32>
    %145 = stablehlo.subtract %116, %144 : tensor<400x1000xf32>
    %146 = stablehlo.convert %145 : (tensor<400x1000xf32>) -> tensor<400x1000xbf16>
    %147 = stablehlo.reshape %146 : (tensor<400x1000xbf16>) -> tensor<8x50x1000xbf16>
    %148 = stablehlo.dot_general %146, %124, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<400x1000xbf16>, tensor<1000x96xbf16>) -> tensor<400x96xbf16>
    %149 = stablehlo.reshape %148 : (tensor<400x96xbf16>) -> tensor<8x50x96xbf16>
    %150 = stablehlo.convert %149 : (tensor<8x50x96xbf16>) -> tensor<8x50x96xf32>
    %151 = stablehlo.multiply %150, %119 : tensor<8x50x96xf32>
    %152 = stablehlo.reshape %151 : (tensor<8x50x96xf32>) -> tensor<1x400x96xf32>
    %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%95, %cst_9, %batch_mean_22, %100, %152) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<1x400x96xf32>, tensor<400xf32>, tensor<400xf32>, tensor<400xf32>, tensor<1x400x96xf32>) -> (tensor<1x400x96xf32>, tensor<400xf32>, tensor<400xf32>)
    %153 = stablehlo.add %batch_var, %cst_6 : tensor<400xf32>
    %154 = stablehlo.rsqrt %153 : tensor<400xf32>
    %155 = stablehlo.divide %cst_9, %154 : tensor<400xf32>
    %156 = stablehlo.multiply %155, %155 : tensor<400xf32>
    %157 = stablehlo.subtract %156, %cst_6 : tensor<400xf32>
    %158 = stablehlo.reshape %grad_operand : (tensor<1x400x96xf32>) -> tensor<8x50x96xf32>
    %159 = stablehlo.compare  GT, %84, %cst_7 : (tensor<8x50x200xbf16>, tensor<8x50x200xbf16>) -> tensor<8x50x200xi1>
    %160 = stablehlo.convert %158 : (tensor<8x50x96xf32>) -> tensor<8x50x96xbf16>
    %161 = stablehlo.reshape %160 : (tensor<8x50x96xbf16>) -> tensor<400x96xbf16>
    %162 = stablehlo.dot_general %161, %86, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<400x96xbf16>, tensor<96x200xbf16>) -> tensor<400x200xbf16>
    %163 = stablehlo.reshape %162 : (tensor<400x200xbf16>) -> tensor<8x50x200xbf16>
    %164 = stablehlo.select %159, %163, %cst_7 : tensor<8x50x200xi1>, tensor<8x50x200xbf16>
    %165 = stablehlo.reshape %164 : (tensor<8x50x200xbf16>) -> tensor<400x200xbf16>
    %166 = stablehlo.dot_general %165, %77, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<400x200xbf16>, tensor<200x96xbf16>) -> tensor<400x96xbf16>
    %167 = stablehlo.reshape %166 : (tensor<400x96xbf16>) -> tensor<8x50x96xbf16>
    %168 = stablehlo.convert %167 : (tensor<8x50x96xbf16>) -> tensor<8x50x96xf32>
    %169 = stablehlo.add %158, %168 : tensor<8x50x96xf32>
    %170 = stablehlo.multiply %169, %72 : tensor<8x50x96xf32>
    %171 = stablehlo.reshape %170 : (tensor<8x50x96xf32>) -> tensor<1x400x96xf32>
    %grad_operand_24, %grad_scale_25, %grad_offset_26 = "stablehlo.batch_norm_grad"(%70, %cst_9, %batch_mean, %157, %171) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<1x400x96xf32>, tensor<400xf32>, tensor<400xf32>, tensor<400xf32>, tensor<1x400x96xf32>) -> (tensor<1x400x96xf32>, tensor<400xf32>, tensor<400xf32>)
    %172 = stablehlo.compare  NE, %105, %cst_5 : (tensor<400x1000xf32>, tensor<400x1000xf32>) -> tensor<400x1000xi1>
    %173 = stablehlo.multiply %106, %140 : tensor<400x1000xf32>
    %174 = stablehlo.select %172, %cst_4, %173 : tensor<400x1000xi1>, tensor<400x1000xf32>
    %175 = stablehlo.multiply %174, %110 : tensor<400x1000xf32>
    %176 = stablehlo.reduce(%175 init: %cst_20) applies stablehlo.add across dimensions = [0, 1] : (tensor<400x1000xf32>, tensor<f32>) -> tensor<f32>
    %177 = stablehlo.divide %176, %112 : tensor<f32>
    %178 = stablehlo.compare  LT, %1, %c_1 : (tensor<400xi64>, tensor<400xi64>) -> tensor<400xi1>
    %179 = stablehlo.broadcast_in_dim %arg18, dims = [] : (tensor<i64>) -> tensor<400xi64>
    %180 = stablehlo.add %1, %179 : tensor<400xi64>
    %181 = stablehlo.select %178, %180, %1 : tensor<400xi1>, tensor<400xi64>
    %182 = stablehlo.reshape %181 : (tensor<400xi64>) -> tensor<400x1xi64>
    %183 = stablehlo.compare  NE, %1, %c : (tensor<400xi64>, tensor<400xi64>) -> tensor<400xi1>
    %184 = stablehlo.broadcast_in_dim %183, dims = [0] : (tensor<400xi1>) -> tensor<400x96xi1>
    %185 = stablehlo.reshape %grad_operand_24 : (tensor<1x400x96xf32>) -> tensor<8x50x96xf32>
    %186 = stablehlo.transpose %52, dims = [0, 2, 1] {result_layout = dense<[1, 2, 0]> : tensor<3xindex>, xla_shape = "bf16[32,50,50]{1,2,0}"} : (tensor<32x50x50xbf16>) -> tensor<32x50x50xbf16>
    %187 = stablehlo.convert %185 : (tensor<8x50x96xf32>) -> tensor<8x50x96xbf16>
    %188 = stablehlo.transpose %187, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "bf16[50,8,96]{2,0,1}"} : (tensor<8x50x96xbf16>) -> tensor<50x8x96xbf16>
    %189 = stablehlo.reshape %188 : (tensor<50x8x96xbf16>) -> tensor<400x96xbf16>
    %190 = stablehlo.dot_general %189, %60, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<400x96xbf16>, tensor<96x96xbf16>) -> tensor<400x96xbf16>
    %191 = stablehlo.reshape %190 : (tensor<400x96xbf16>) -> tensor<50x8x4x24xbf16>
    %192 = stablehlo.transpose %191, dims = [1, 2, 0, 3] {result_layout = dense<[3, 1, 0, 2]> : tensor<4xindex>, xla_shape = "bf16[8,4,50,24]{3,1,0,2}"} : (tensor<50x8x4x24xbf16>) -> tensor<8x4x50x24xbf16>
    %193 = stablehlo.reshape %192 : (tensor<8x4x50x24xbf16>) -> tensor<32x50x24xbf16>
    %194 = stablehlo.dot_general %186, %193, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x50x50xbf16>, tensor<32x50x24xbf16>) -> tensor<32x50x24xbf16>
    %195 = stablehlo.transpose %194, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "bf16[50,32,24]{2,0,1}"} : (tensor<32x50x24xbf16>) -> tensor<50x32x24xbf16>
    %196 = stablehlo.reshape %195 : (tensor<50x32x24xbf16>) -> tensor<1x50x8x96xbf16>
    %197 = stablehlo.dynamic_update_slice %cst_0, %196, %c_12, %c_13, %c_13, %c_13 : (tensor<3x50x8x96xbf16>, tensor<1x50x8x96xbf16>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<3x50x8x96xbf16>
    %198 = stablehlo.transpose %26, dims = [0, 2, 1] {result_layout = dense<[1, 2, 0]> : tensor<3xindex>, xla_shape = "bf16[32,24,50]{1,2,0}"} : (tensor<32x50x24xbf16>) -> tensor<32x24x50xbf16>
    %199 = stablehlo.transpose %54, dims = [1, 2, 0] : (tensor<50x32x24xbf16>) -> tensor<32x24x50xbf16>
    %200 = stablehlo.dot_general %193, %199, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x50x24xbf16>, tensor<32x24x50xbf16>) -> tensor<32x50x50xbf16>
    %201 = stablehlo.reshape %200 : (tensor<32x50x50xbf16>) -> tensor<8x4x50x50xbf16>
    %202 = stablehlo.convert %201 : (tensor<8x4x50x50xbf16>) -> tensor<8x4x50x50xf32>
    %203 = stablehlo.multiply %202, %50 : tensor<8x4x50x50xf32>
    %204 = stablehlo.reduce(%203 init: %cst_20) applies stablehlo.add across dimensions = [3] : (tensor<8x4x50x50xf32>, tensor<f32>) -> tensor<8x4x50xf32>
    %205 = stablehlo.broadcast_in_dim %204, dims = [0, 1, 2] : (tensor<8x4x50xf32>) -> tensor<8x4x50x50xf32>
    %206 = stablehlo.subtract %202, %205 : tensor<8x4x50x50xf32>
    %207 = stablehlo.multiply %50, %206 : tensor<8x4x50x50xf32>
    %208 = stablehlo.convert %207 : (tensor<8x4x50x50xf32>) -> tensor<8x4x50x50xbf16>
    %209 = stablehlo.reshape %208 : (tensor<8x4x50x50xbf16>) -> tensor<32x50x50xbf16>
    %210 = stablehlo.dot_general %198, %209, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x24x50xbf16>, tensor<32x50x50xbf16>) -> tensor<32x24x50xbf16>
    %211 = stablehlo.reshape %210 : (tensor<32x24x50xbf16>) -> tensor<8x4x24x50xbf16>
    %212 = stablehlo.convert %211 : (tensor<8x4x24x50xbf16>) -> tensor<8x4x24x50xf32>
    %213 = stablehlo.multiply %212, %33 : tensor<8x4x24x50xf32>
    %214 = stablehlo.transpose %213, dims = [0, 1, 3, 2] {result_layout = dense<[2, 3, 1, 0]> : tensor<4xindex>, xla_shape = "f32[8,4,50,24]{2,3,1,0}"} : (tensor<8x4x24x50xf32>) -> tensor<8x4x50x24xf32>
    %215 = stablehlo.convert %214 {result_layout = dense<[2, 3, 1, 0]> : tensor<4xindex>, xla_shape = "bf16[8,4,50,24]{2,3,1,0}"} : (tensor<8x4x50x24xf32>) -> tensor<8x4x50x24xbf16>
    %216 = stablehlo.reshape %215 : (tensor<8x4x50x24xbf16>) -> tensor<32x50x24xbf16>
    %217 = stablehlo.transpose %216, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "bf16[50,32,24]{2,0,1}"} : (tensor<32x50x24xbf16>) -> tensor<50x32x24xbf16>
    %218 = stablehlo.reshape %217 : (tensor<50x32x24xbf16>) -> tensor<1x50x8x96xbf16>
    %219 = stablehlo.dynamic_update_slice %cst_0, %218, %c_15, %c_13, %c_13, %c_13 : (tensor<3x50x8x96xbf16>, tensor<1x50x8x96xbf16>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<3x50x8x96xbf16>
    %220 = stablehlo.add %197, %219 : tensor<3x50x8x96xbf16>
    %221 = stablehlo.transpose %36, dims = [0, 2, 1] {result_layout = dense<[1, 2, 0]> : tensor<3xindex>, xla_shape = "bf16[32,50,24]{1,2,0}"} : (tensor<32x24x50xbf16>) -> tensor<32x50x24xbf16>
    %222 = stablehlo.dot_general %209, %221, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x50x50xbf16>, tensor<32x50x24xbf16>) -> tensor<32x50x24xbf16>
    %223 = stablehlo.reshape %222 : (tensor<32x50x24xbf16>) -> tensor<8x4x50x24xbf16>
    %224 = stablehlo.convert %223 : (tensor<8x4x50x24xbf16>) -> tensor<8x4x50x24xf32>
    %225 = stablehlo.multiply %224, %23 : tensor<8x4x50x24xf32>
    %226 = stablehlo.convert %225 : (tensor<8x4x50x24xf32>) -> tensor<8x4x50x24xbf16>
    %227 = stablehlo.reshape %226 : (tensor<8x4x50x24xbf16>) -> tensor<32x50x24xbf16>
    %228 = stablehlo.transpose %227, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "bf16[50,32,24]{2,0,1}"} : (tensor<32x50x24xbf16>) -> tensor<50x32x24xbf16>
    %229 = stablehlo.reshape %228 : (tensor<50x32x24xbf16>) -> tensor<1x50x8x96xbf16>
    %230 = stablehlo.dynamic_update_slice %cst_0, %229, %c_13, %c_13, %c_13, %c_13 : (tensor<3x50x8x96xbf16>, tensor<1x50x8x96xbf16>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<3x50x8x96xbf16>
    %231 = stablehlo.add %220, %230 : tensor<3x50x8x96xbf16>
    %232 = stablehlo.reshape %231 : (tensor<3x50x8x96xbf16>) -> tensor<3x50x8x1x96xbf16>
    %233 = stablehlo.transpose %232, dims = [3, 1, 2, 0, 4] {result_layout = dense<[4, 0, 2, 1, 3]> : tensor<5xindex>, xla_shape = "bf16[1,50,8,3,96]{4,0,2,1,3}"} : (tensor<3x50x8x1x96xbf16>) -> tensor<1x50x8x3x96xbf16>
    %234 = stablehlo.reshape %233 : (tensor<1x50x8x3x96xbf16>) -> tensor<50x8x288xbf16>
    %235 = stablehlo.reshape %233 : (tensor<1x50x8x3x96xbf16>) -> tensor<400x288xbf16>
    %236 = stablehlo.dot_general %235, %8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<400x288xbf16>, tensor<288x96xbf16>) -> tensor<400x96xbf16>
    %237 = stablehlo.reshape %236 : (tensor<400x96xbf16>) -> tensor<50x8x96xbf16>
    %238 = stablehlo.convert %237 : (tensor<50x8x96xbf16>) -> tensor<50x8x96xf32>
    %239 = stablehlo.transpose %238, dims = [1, 0, 2] {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, xla_shape = "f32[8,50,96]{2,0,1}"} : (tensor<50x8x96xf32>) -> tensor<8x50x96xf32>
    %240 = stablehlo.add %185, %239 : tensor<8x50x96xf32>
    %241 = stablehlo.reshape %240 : (tensor<8x50x96xf32>) -> tensor<400x96xf32>
    %242 = stablehlo.select %184, %241, %cst : tensor<400x96xi1>, tensor<400x96xf32>
    %243 = "stablehlo.scatter"(%cst_2, %182, %242) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %319 = stablehlo.add %arg19, %arg20 : tensor<f32>
      stablehlo.return %319 : tensor<f32>
    }) : (tensor<1000x96xf32>, tensor<400x1xi64>, tensor<400x96xf32>) -> tensor<1000x96xf32>
    %244 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<1000x96xf32>
    %245 = stablehlo.multiply %243, %244 : tensor<1000x96xf32>
    %246 = stablehlo.add %arg13, %245 : tensor<1000x96xf32>
    %247 = stablehlo.transpose %7, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[96,400]{0,1}"} : (tensor<400x96xbf16>) -> tensor<96x400xbf16>
    %248 = stablehlo.dot_general %247, %235, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<96x400xbf16>, tensor<400x288xbf16>) -> tensor<96x288xbf16>
    %249 = stablehlo.transpose %248, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[288,96]{0,1}"} : (tensor<96x288xbf16>) -> tensor<288x96xbf16>
    %250 = stablehlo.convert %249 {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[288,96]{0,1}"} : (tensor<288x96xbf16>) -> tensor<288x96xf32>
    %251 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<288x96xf32>
    %252 = stablehlo.multiply %250, %251 : tensor<288x96xf32>
    %253 = stablehlo.add %arg12, %252 : tensor<288x96xf32>
    %254 = stablehlo.reduce(%234 init: %cst_14) applies stablehlo.add across dimensions = [0, 1] : (tensor<50x8x288xbf16>, tensor<bf16>) -> tensor<288xbf16>
    %255 = stablehlo.convert %254 : (tensor<288xbf16>) -> tensor<288xf32>
    %256 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<288xf32>
    %257 = stablehlo.multiply %255, %256 : tensor<288xf32>
    %258 = stablehlo.add %arg11, %257 : tensor<288xf32>
    %259 = stablehlo.transpose %59, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[96,400]{0,1}"} : (tensor<400x96xbf16>) -> tensor<96x400xbf16>
    %260 = stablehlo.dot_general %259, %189, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<96x400xbf16>, tensor<400x96xbf16>) -> tensor<96x96xbf16>
    %261 = stablehlo.transpose %260, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[96,96]{0,1}"} : (tensor<96x96xbf16>) -> tensor<96x96xbf16>
    %262 = stablehlo.convert %261 {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[96,96]{0,1}"} : (tensor<96x96xbf16>) -> tensor<96x96xf32>
    %263 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<96x96xf32>
    %264 = stablehlo.multiply %262, %263 : tensor<96x96xf32>
    %265 = stablehlo.add %arg10, %264 : tensor<96x96xf32>
    %266 = stablehlo.reduce(%189 init: %cst_14) applies stablehlo.add across dimensions = [0] : (tensor<400x96xbf16>, tensor<bf16>) -> tensor<96xbf16>
    %267 = stablehlo.convert %266 : (tensor<96xbf16>) -> tensor<96xf32>
    %268 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<96xf32>
    %269 = stablehlo.multiply %267, %268 : tensor<96xf32>
    %270 = stablehlo.add %arg9, %269 : tensor<96xf32>
    %271 = stablehlo.transpose %76, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[96,400]{0,1}"} : (tensor<400x96xbf16>) -> tensor<96x400xbf16>
    %272 = stablehlo.dot_general %271, %165, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<96x400xbf16>, tensor<400x200xbf16>) -> tensor<96x200xbf16>
    %273 = stablehlo.transpose %272, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[200,96]{0,1}"} : (tensor<96x200xbf16>) -> tensor<200x96xbf16>
    %274 = stablehlo.convert %273 {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[200,96]{0,1}"} : (tensor<200x96xbf16>) -> tensor<200x96xf32>
    %275 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<200x96xf32>
    %276 = stablehlo.multiply %274, %275 : tensor<200x96xf32>
    %277 = stablehlo.add %arg7, %276 : tensor<200x96xf32>
    %278 = stablehlo.reduce(%164 init: %cst_14) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x50x200xbf16>, tensor<bf16>) -> tensor<200xbf16>
    %279 = stablehlo.convert %278 : (tensor<200xbf16>) -> tensor<200xf32>
    %280 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<200xf32>
    %281 = stablehlo.multiply %279, %280 : tensor<200xf32>
    %282 = stablehlo.add %arg6, %281 : tensor<200xf32>
    %283 = stablehlo.transpose %85, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[200,400]{0,1}"} : (tensor<400x200xbf16>) -> tensor<200x400xbf16>
    %284 = stablehlo.dot_general %283, %161, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<200x400xbf16>, tensor<400x96xbf16>) -> tensor<200x96xbf16>
    %285 = stablehlo.transpose %284, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[96,200]{0,1}"} : (tensor<200x96xbf16>) -> tensor<96x200xbf16>
    %286 = stablehlo.convert %285 {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[96,200]{0,1}"} : (tensor<96x200xbf16>) -> tensor<96x200xf32>
    %287 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<96x200xf32>
    %288 = stablehlo.multiply %286, %287 : tensor<96x200xf32>
    %289 = stablehlo.add %arg5, %288 : tensor<96x200xf32>
    %290 = stablehlo.reduce(%160 init: %cst_14) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x50x96xbf16>, tensor<bf16>) -> tensor<96xbf16>
    %291 = stablehlo.convert %290 : (tensor<96xbf16>) -> tensor<96xf32>
    %292 = stablehlo.multiply %291, %268 : tensor<96xf32>
    %293 = stablehlo.add %arg4, %292 : tensor<96xf32>
    %294 = stablehlo.multiply %169, %71 : tensor<8x50x96xf32>
    %295 = stablehlo.reduce(%294 init: %cst_20) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x50x96xf32>, tensor<f32>) -> tensor<96xf32>
    %296 = stablehlo.multiply %295, %268 : tensor<96xf32>
    %297 = stablehlo.add %arg8, %296 : tensor<96xf32>
    %298 = stablehlo.reduce(%169 init: %cst_20) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x50x96xf32>, tensor<f32>) -> tensor<96xf32>
    %299 = stablehlo.multiply %298, %268 : tensor<96xf32>
    %300 = stablehlo.add %arg15, %299 : tensor<96xf32>
    %301 = stablehlo.multiply %150, %118 : tensor<8x50x96xf32>
    %302 = stablehlo.reduce(%301 init: %cst_20) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x50x96xf32>, tensor<f32>) -> tensor<96xf32>
    %303 = stablehlo.multiply %302, %268 : tensor<96xf32>
    %304 = stablehlo.add %arg3, %303 : tensor<96xf32>
    %305 = stablehlo.reduce(%150 init: %cst_20) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x50x96xf32>, tensor<f32>) -> tensor<96xf32>
    %306 = stablehlo.multiply %305, %268 : tensor<96xf32>
    %307 = stablehlo.add %arg16, %306 : tensor<96xf32>
    %308 = stablehlo.transpose %123, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[96,400]{0,1}"} : (tensor<400x96xbf16>) -> tensor<96x400xbf16>
    %309 = stablehlo.dot_general %308, %146, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<96x400xbf16>, tensor<400x1000xbf16>) -> tensor<96x1000xbf16>
    %310 = stablehlo.transpose %309, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "bf16[1000,96]{0,1}"} : (tensor<96x1000xbf16>) -> tensor<1000x96xbf16>
    %311 = stablehlo.convert %310 {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[1000,96]{0,1}"} : (tensor<1000x96xbf16>) -> tensor<1000x96xf32>
    %312 = stablehlo.multiply %311, %244 : tensor<1000x96xf32>
    %313 = stablehlo.add %arg2, %312 : tensor<1000x96xf32>
    %314 = stablehlo.reduce(%147 init: %cst_14) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x50x1000xbf16>, tensor<bf16>) -> tensor<1000xbf16>
    %315 = stablehlo.convert %314 : (tensor<1000xbf16>) -> tensor<1000xf32>
    %316 = stablehlo.broadcast_in_dim %arg17, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %317 = stablehlo.multiply %315, %316 : tensor<1000xf32>
    %318 = stablehlo.add %arg1, %317 : tensor<1000xf32>
    return %177, %246, %253, %258, %265, %270, %277, %282, %289, %293, %297, %300, %304, %307, %313, %318 : tensor<f32>, tensor<1000x96xf32>, tensor<288x96xf32>, tensor<288xf32>, tensor<96x96xf32>, tensor<96xf32>, tensor<200x96xf32>, tensor<200xf32>, tensor<96x200xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<1000x96xf32>, tensor<1000xf32>
  }
}
